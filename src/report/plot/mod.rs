//! Figures for papers: each drawn once and written as SVG and PNG.
//!
//! Deterministic to the byte, and independent of the machine's fonts: DejaVu Sans is embedded.

mod activity;
mod arrivals;
mod bars;
mod conditions;
mod ecdf;
mod ecdf_panels;
mod errors;
mod families;
mod figure;
#[cfg(test)]
mod fixture;
mod groups;
mod heat;
mod interval;
mod legend;
mod lines;
mod log;
mod makespan;
mod mark;
mod pairs;
mod pareto;
mod series;
mod stack;
mod style;
mod timeline;

use std::path::{Path, PathBuf};

pub use activity::activity;
pub use arrivals::{ArrivalPanel, arrivals};
pub use bars::{BarPanel, bars};
pub use conditions::{ConditionGroup, ConditionPanel, conditions};
pub use ecdf::{Quantity, ecdf};
pub use ecdf_panels::{EcdfPanel, Twins, ecdf_panels};
pub use errors::errors;
pub use figure::Figure;
pub use heat::{Best, HeatAxis, HeatPanel, heat_maps};
pub use lines::{Line, LinePanel, LineSeries, XAxis, lines};
pub use makespan::{Bar, BarGroup, makespan_bars};
pub use pairs::{Pair, PairPanel, agreement, job_agreement};
pub use pareto::{ParetoPanel, ParetoSeries, front, pareto};
pub use series::{ActivitySeries, Waiting};
pub use timeline::{timeline, too_many_for_timeline};

use super::atomic;
use crate::error::{Error, Result};

/// Writes `name.svg` and `name.png` into a directory, each whole or not at all.
///
/// # Errors
/// [`Error::Plot`] if the figure cannot be rendered, [`Error::Write`] if a file cannot be written.
pub fn write(dir: &Path, name: &str, figure: &Figure) -> Result<Vec<PathBuf>> {
    let failed = |message| Error::Plot { figure: name.to_owned(), message };
    let files =
        [("svg", figure.svg().map_err(failed)?.as_bytes().to_vec()), ("png", figure.png().map_err(failed)?)];
    files
        .into_iter()
        .map(|(extension, bytes)| {
            let path = dir.join(format!("{name}.{extension}"));
            atomic::write(&path, &bytes).map(|()| path)
        })
        .collect()
}

/// Removes the files that [`write()`] makes, where they are there: those of an earlier run would be taken for this one's.
///
/// # Errors
/// [`Error::Write`] if there is one that cannot be removed.
pub fn remove(dir: &Path, name: &str) -> Result<()> {
    for extension in ["svg", "png"] {
        let path = dir.join(format!("{name}.{extension}"));
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::write(&path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_written_and_do_not_vary() {
        let dir = tempfile::tempdir().unwrap();
        let series = [("aegis", vec![1.0, 2.0, 4.0]), ("lucid", vec![])].map(|(p, v)| (p.to_owned(), v));
        let draw = || write(dir.path(), "slowdown", &ecdf(&series, Quantity::log("slowdown"))).unwrap();
        let first: Vec<_> = draw().iter().map(|path| std::fs::read(path).unwrap()).collect();
        let paths = draw();
        assert_eq!(paths, [dir.path().join("slowdown.svg"), dir.path().join("slowdown.png")]);
        let second: Vec<_> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
        assert!(first == second);
        assert!(second[1].starts_with(b"\x89PNG\r\n\x1a\n"));
        let svg = String::from_utf8(second[0].clone()).unwrap();
        assert!(svg.ends_with("</svg>\n") && svg.contains("font-family=\"DejaVu Sans, sans-serif\""));
        assert!(svg.contains("slowdown") && svg.contains("aegis"));
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let figure = ecdf(&[], Quantity::linear("job completion time [h]"));
        assert!(matches!(write(Path::new("/nonexistent"), "a", &figure), Err(Error::Write { .. })));
    }
}
