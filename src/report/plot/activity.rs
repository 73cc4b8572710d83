use super::figure::{Figure, Span, X_LABELS, Y_LABELS, builder, draw_line, mesh, number, steps};
use super::legend::Key;
use super::series::{ActivitySeries, Waiting, outline};
use super::style::{AXIS, BLACK, BLUE, GREEN, LINE, Look, VERMILLION};
use crate::engine::Time;
use crate::sim::RunRecord;
use crate::workload::Metric;

const QUEUE_HEIGHT: u32 = 330;
const ACTIVITY_HEIGHT: u32 = 530 + X_LABELS;
/// Changes come by the thousand; this many means of them can be seen.
const BINS: usize = 300;
/// Of the line of waiting jobs, which has no means.
const SLICES: usize = 2_500;

const METRICS: [(Metric, &str, Look); 3] = [
    (Metric::GpuUtil, "GPU utilisation", Look { color: BLUE, dash: Some((20, 10)), width: 5 }),
    (Metric::Smact, "SMACT", Look { color: GREEN, dash: None, width: LINE }),
    (Metric::Drama, "DRAMA", Look { color: VERMILLION, dash: Some((8, 8)), width: LINE }),
];

/// Jobs that wait and, below, mean activity of the GPUs over the time since the first submission.
pub fn activity(record: &RunRecord, series: &ActivitySeries) -> Figure {
    // A metric that is not known of all workloads would read too low.
    let known = |metric: Metric| {
        record.gpus.iter().all(|gpu| match metric {
            Metric::Smact => gpu.smact_mean.is_some(),
            Metric::Smocc => gpu.smocc_mean.is_some(),
            Metric::Drama => gpu.drama_mean.is_some(),
            Metric::GpuUtil => true,
        })
    };
    let metrics = || METRICS.into_iter().filter(|(metric, _, _)| known(*metric));
    let keys = metrics().map(|(_, name, look)| (Key::Line(look), name.to_owned()));
    Figure::draw(keys, QUEUE_HEIGHT + ACTIVITY_HEIGHT, |area| {
        let (queue, gpus) = area.split_vertically(QUEUE_HEIGHT);
        let gpus = gpus.margin(16, 0, 0, 0);
        let span = Span::of(record);
        let waiting = Waiting::of(record).total;
        let longest = waiting.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        let mut chart =
            builder(&queue, Y_LABELS, 0).build_cartesian_2d(0.0..span.length, 0..longest + longest / 20)?;
        mesh(&mut chart).y_labels(5).y_desc("jobs waiting").draw()?;
        let since = |time: Time| (time - record.start).as_s() / span.unit_s;
        let end = waiting.last().map(|(_, count)| (record.end, *count));
        let waiting = outline(&waiting, SLICES);
        let line = steps(waiting.into_iter().chain(end).map(|(time, count)| (since(time), count)));
        let base = vec![(0.0, 0), (span.length, 0)];
        draw_line(&mut chart, base, Look { color: AXIS, dash: None, width: 4 })?;
        draw_line(&mut chart, line, Look { color: BLACK, dash: None, width: LINE })?;

        let mut chart =
            builder(&gpus, Y_LABELS, X_LABELS).build_cartesian_2d(0.0..span.length, 0.0..100.0)?;
        mesh(&mut chart)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .x_desc(&span.label)
            .y_desc("GPU activity [%]")
            .draw()?;
        let bins = series.binned(record.start, record.end, BINS);
        for (metric, _, look) in metrics() {
            let percents = bins.iter().chain(bins.last()).map(|bin| 100.0 * bin[metric as usize]);
            let at = |(i, percent)| (i as f64 / BINS as f64 * span.length, percent);
            draw_line(&mut chart, steps(percents.enumerate().map(at)), look)?;
        }
        Ok(())
    })
}
