use plotters::element::{PathElement, Polygon};
use plotters::style::Color;

use super::figure::{
    Area, Drawn, Figure, X_LABELS, Y_LABELS, builder, draw_empty, mesh, number, steps, usable,
};
use super::stack::Stack;
use super::style::{BLUE, LINE, tint};

/// Of a chart without its title and what is below.
const HEIGHT: u32 = 480;
/// Bins of a chart: at most, and of a trace of few jobs, which would stand in bins alone.
const BINS: f64 = 160.0;
const FEW_BINS: f64 = 36.0;
/// Widths of bins that read well, in seconds: name and width.
const WIDTHS: [(&str, f64); 15] = [
    ("1 s", 1.0),
    ("10 s", 10.0),
    ("1 min", 60.0),
    ("5 min", 300.0),
    ("10 min", 600.0),
    ("30 min", 1800.0),
    ("1 h", 3600.0),
    ("3 h", 10_800.0),
    ("6 h", 21_600.0),
    ("12 h", 43_200.0),
    ("1 day", 86_400.0),
    ("1 week", 7.0 * 86_400.0),
    ("4 weeks", 28.0 * 86_400.0),
    ("1 year", 365.0 * 86_400.0),
    ("100 years", 36_500.0 * 86_400.0),
];

/// The submissions of a trace, for one chart.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivalPanel {
    pub title: String,
    /// From the first submission, ascending.
    pub submissions_s: Vec<f64>,
}

/// Jobs submitted per hour over time: a chart per trace, each over its own time, in bins of a width that reads well.
pub fn arrivals(panels: &[ArrivalPanel]) -> Figure {
    let charts: Vec<Rate> = panels.iter().map(Rate::of).collect();
    let stack = Stack { chart: HEIGHT, below: X_LABELS, last: X_LABELS };
    Figure::draw([], stack.height(charts.len()), |area| {
        stack.draw(area, &charts, |rate| &rate.title, |area, rate, bottom, _| rate.draw(area, bottom))?;
        if charts.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

struct Rate {
    title: String,
    label: String,
    /// Start of a bin, in the unit of the label, and jobs per hour in it. The last is the end.
    bins: Vec<(f64, f64)>,
}

impl Rate {
    fn of(panel: &ArrivalPanel) -> Rate {
        let span_s = panel.submissions_s.last().copied().unwrap_or(0.0);
        let most = (panel.submissions_s.len() as f64 / 2.0).clamp(FEW_BINS, BINS);
        let width = WIDTHS.iter().find(|(_, width_s)| span_s / width_s < most).or(WIDTHS.last());
        let (name, width_s) = width.copied().unwrap_or(("1 s", 1.0));
        let mut counts = vec![0u32; (span_s / width_s).floor() as usize + 1];
        for submit_s in &panel.submissions_s {
            counts[(submit_s / width_s).floor() as usize] += 1;
        }
        let (unit, unit_s) = match span_s {
            s if s >= 4.0 * 86_400.0 => ("days", 86_400.0),
            s if s >= 2.0 * 3600.0 => ("h", 3600.0),
            s if s >= 120.0 => ("min", 60.0),
            _ => ("s", 1.0),
        };
        let rate = |count: u32| f64::from(count) / (width_s / 3600.0);
        let ends = counts.iter().map(|&count| rate(count)).chain([0.0]);
        Rate {
            title: format!("{} (bins of {name})", panel.title),
            label: format!("time since first submission [{unit}]"),
            bins: ends.enumerate().map(|(i, rate)| (i as f64 * width_s / unit_s, rate)).collect(),
        }
    }

    fn draw(&self, area: &Area<'_>, bottom: u32) -> Drawn {
        let high = usable(self.bins.iter().map(|(_, rate)| *rate).fold(0.0, f64::max) * 1.05);
        let end = usable(self.bins.last().map_or(0.0, |(end, _)| *end));
        let mut chart = builder(area, Y_LABELS, bottom).build_cartesian_2d(0.0..end, 0.0..high)?;
        mesh(&mut chart)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .y_labels(5)
            .x_desc(&self.label)
            .y_desc("jobs per hour")
            .draw()?;
        let edge = steps(self.bins.iter().copied());
        let filled = [vec![(0.0, 0.0)], edge.clone()].concat();
        chart.draw_series([Polygon::new(filled, tint(BLUE, 0.3).filled())])?;
        chart.draw_series([PathElement::new(edge, BLUE.stroke_width(LINE / 2))])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_in_bins_that_read_well() {
        let panel = |submissions_s| ArrivalPanel { title: "t".into(), submissions_s };
        let rate = Rate::of(&panel(vec![0.0, 59.0, 60.0, 1799.0]));
        assert_eq!((rate.title.as_str(), rate.bins.len()), ("t (bins of 1 min)", 31));
        assert_eq!(rate.bins[..3], [(0.0, 120.0), (1.0, 60.0), (2.0, 0.0)]);
        assert_eq!(rate.bins[29..], [(29.0, 60.0), (30.0, 0.0)]);
        let rate = Rate::of(&panel(vec![0.0, 30.0 * 86_400.0]));
        assert_eq!((rate.title.as_str(), rate.label.ends_with("[days]")), ("t (bins of 1 day)", true));
    }

    #[test]
    fn any_submissions_are_drawn() {
        for submissions_s in [vec![], vec![0.0; 3], vec![0.0, 1e-9], vec![0.0, 1e11]] {
            let panel = ArrivalPanel { title: "<&>\u{1}".into(), submissions_s };
            assert!(arrivals(&[panel.clone(), panel]).png().is_ok());
        }
        assert!(arrivals(&[]).png().is_ok());
    }
}
