use super::axis::{Axis, Frame, TimeUnit, X_AXIS_HEIGHT};
use super::figure::Figure;
use super::legend::{Key, Legend};
use super::series::{ActivitySeries, Waiting};
use super::style::{BLACK, BLUE, GREEN, LINE, Look, MARGIN, VERMILLION, WIDTH};
use crate::engine::Time;
use crate::sim::RunRecord;
use crate::workload::Metric;

const QUEUE_HEIGHT: f64 = 150.0;
const ACTIVITY_HEIGHT: f64 = 250.0;
/// Changes come by the thousand; this many means of them can be seen.
const BINS: usize = 300;

const METRICS: [(Metric, &str, Look); 3] = [
    (Metric::GpuUtil, "GPU utilisation", Look { color: BLUE, dash: &[10.0, 5.0], width: 2.5 }),
    (Metric::Smact, "SMACT", Look { color: GREEN, dash: &[], width: LINE }),
    (Metric::Drama, "DRAMA", Look { color: VERMILLION, dash: &[16.0, 5.0, 4.0, 5.0], width: 2.5 }),
];

/// Jobs that wait and, below, mean activity of the GPUs over the time since the first submission.
pub fn activity(record: &RunRecord, series: &ActivitySeries) -> Figure {
    let legend = Legend::new(METRICS.map(|(_, name, look)| (Key::Line(look), name.to_owned())));
    let unit = TimeUnit::of(record.end - record.start);
    let span = record.makespan_s() / unit.seconds;
    let waiting = Waiting::of(record).total;
    let longest = waiting.iter().map(|(_, count)| *count).max().unwrap_or(0);

    let top = MARGIN + legend.height() + 16.0;
    let (left, right) = (120.0, WIDTH - 34.0);
    let x = Axis::fitting(right - left, |count| Axis::to(span, count));
    let queue = Frame { left, top, right, bottom: top + QUEUE_HEIGHT, x, y: Axis::counts(longest, 3) };
    let top = queue.bottom + 26.0;
    let gpus = Frame { top, bottom: top + ACTIVITY_HEIGHT, y: Axis::to(100.0, 5), ..queue.clone() };
    let mut figure = Figure::new(WIDTH, gpus.bottom + X_AXIS_HEIGHT + 6.0);
    legend.draw(&mut figure, MARGIN);

    queue.draw_y(&mut figure, "jobs waiting");
    queue.draw_x_grid(&mut figure);
    queue.draw_edges(&mut figure);
    let since = |time: Time| (time - record.start).as_s() / unit.seconds;
    let end = waiting.last().map(|(_, count)| (record.end, *count));
    let counts = waiting.iter().copied().chain(end);
    let line = queue.steps(counts.map(|(time, count)| (since(time), count as f64)));
    figure.path(&line, BLACK, LINE, &[]);

    gpus.draw_y(&mut figure, "GPU activity [%]");
    gpus.draw_x_grid(&mut figure);
    gpus.draw_edges(&mut figure);
    let bins = series.binned(record.start, record.end, BINS);
    let width = span / BINS as f64;
    for (metric, _, look) in METRICS {
        let percents = bins.iter().chain(bins.last()).map(|bin| 100.0 * bin[metric as usize]);
        let line = gpus.steps(percents.enumerate().map(|(i, percent)| (i as f64 * width, percent)));
        figure.path(&line, look.color, look.width, look.dash);
    }
    gpus.draw_x(&mut figure, &format!("time since first submission [{}]", unit.name));
    figure
}
