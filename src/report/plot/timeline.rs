use super::axis::{Axis, Frame, TimeUnit, X_AXIS_HEIGHT};
use super::families::Families;
use super::figure::Figure;
use super::legend::{Key, Legend};
use super::series::{Waiting, binned};
use super::style::{AXIS, GREY, GRID, LABEL_TEXT, MARGIN, TICK_TEXT, VERMILLION, WIDTH, tint};
use super::text::{Align, fitted, text_width};
use crate::engine::Time;
use crate::sim::{Attempt, Outcome, RunRecord};
use plotters::style::RGBColor;

/// All lanes together: at least, for each GPU, at most.
const LANES_HEIGHT: (f64, f64, f64) = (130.0, 92.0, 640.0);
const STRIP_HEIGHT: f64 = 56.0;
const STRIP_GAP: f64 = 12.0;
/// What remains of a family's colour while a job starts up.
const STARTUP: f64 = 0.35;

/// Which jobs are on which GPU over the time since the first submission, and how many wait.
///
/// A lane for each GPU; jobs that share it are stacked. Light while a job starts up, a cross where an
/// attempt died of OOM. Below, the number of jobs that wait for their first dispatch and, if there are any,
/// of those that wait to be dispatched again.
pub fn timeline(record: &RunRecord) -> Figure {
    let families = Families::of(record);
    let failures = record.attempts.iter().any(|attempt| attempt.outcome == Outcome::OutOfMemory);
    // Seconds in a run of hours: named only where they can be seen.
    let visible = |attempt: &Attempt| {
        let start_up = attempt.first_activity.unwrap_or(attempt.end) - attempt.launch;
        start_up.as_s() * WIDTH > 3.0 * record.makespan_s()
    };
    let start_up = record.attempts.iter().any(visible);
    let start_up = start_up.then(|| (Key::Fill(tint(GREY, STARTUP)), "start-up (light)".to_owned()));
    let death = failures.then(|| (Key::Cross, "OOM death".to_owned()));
    let legend = Legend::new(families.keys().chain(start_up).chain(death));

    let labels: Vec<String> = lane_labels(record);
    let waiting = Waiting::of(record);
    let mut strips = vec![("queued", &waiting.initial, GREY)];
    if !waiting.recovery.is_empty() {
        strips.push(("recovering", &waiting.recovery, VERMILLION));
    }
    let names = labels.iter().map(String::as_str).chain(strips.iter().map(|(name, ..)| *name));
    let widest = names.map(|name| text_width(name, TICK_TEXT)).fold(105.0, f64::max);
    let (least, each, most) = LANES_HEIGHT;
    let lanes = record.gpus.len().max(1);
    let top = MARGIN + legend.height() + 14.0;
    let (left, right) = (MARGIN + widest.min(250.0) + 12.0, WIDTH - 34.0);
    let unit = TimeUnit::of(record.end - record.start);
    let span = record.makespan_s() / unit.seconds;
    let frame = Frame {
        left,
        top,
        right,
        bottom: top + (each * lanes as f64).clamp(least, most),
        x: Axis::fitting(right - left, |count| Axis::to(span, count)),
        y: Axis::to(lanes as f64, 1),
    };
    let bottom = frame.bottom + strips.len() as f64 * (STRIP_GAP + STRIP_HEIGHT);
    let mut figure = Figure::new(WIDTH, bottom + X_AXIS_HEIGHT + 6.0);
    legend.draw(&mut figure, MARGIN);

    frame.draw_x_grid(&mut figure);
    draw_lanes(&mut figure, &frame, &labels);
    let since = |time: Time| (time - record.start).as_s() / unit.seconds;
    draw_jobs(&mut figure, &frame, record, &families, since);
    frame.draw_edges(&mut figure);
    let mut below = frame;
    for (name, counts, color) in strips {
        let top = below.bottom + STRIP_GAP;
        let high = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let y = Axis::to(high as f64, 1);
        below = Frame { top, bottom: top + STRIP_HEIGHT, y, ..below };
        below.draw_x_grid(&mut figure);
        draw_counts(&mut figure, &below, record, counts, color);
        let x = below.left - 10.0;
        figure.text(name, (x, top + 16.0), TICK_TEXT, Align::Right);
        figure.text(&format!("max {high}"), (x, top + 42.0), TICK_TEXT, Align::Right);
        below.draw_edges(&mut figure);
    }
    below.draw_x(&mut figure, &format!("time since first submission [{}]", unit.name));
    figure
}

/// `GPU 0`, or with the server's number in front where there are several.
fn lane_labels(record: &RunRecord) -> Vec<String> {
    let several = record.gpus.iter().any(|gpu| gpu.server > 0);
    let label = |server: usize, index: usize| match several {
        true => format!("{server}/GPU {index}"),
        false => format!("GPU {index}"),
    };
    record.gpus.iter().map(|gpu| label(gpu.server, gpu.index)).collect()
}

/// Labels, as many as have room, and lines between the lanes.
fn draw_lanes(figure: &mut Figure, frame: &Frame, labels: &[String]) {
    let height = (frame.bottom - frame.top) / labels.len().max(1) as f64;
    let every = ((TICK_TEXT + 4.0) / height).ceil().max(1.0) as usize;
    for (i, label) in labels.iter().enumerate() {
        let top = frame.top + i as f64 * height;
        if i > 0 && height > 4.0 {
            figure.line((frame.left, top), (frame.right, top), if height > 20.0 { AXIS } else { GRID }, 1.0);
        }
        if i % every == 0 {
            let label = fitted(label, TICK_TEXT, frame.left - MARGIN - 10.0);
            figure.text(&label, (frame.left - 10.0, top + height / 2.0), TICK_TEXT, Align::Right);
        }
    }
    if labels.is_empty() {
        figure.text("no GPUs", (frame.left + 80.0, frame.top + 20.0), LABEL_TEXT, Align::Center);
    }
}

fn draw_jobs(
    figure: &mut Figure,
    frame: &Frame,
    record: &RunRecord,
    families: &Families,
    since: impl Fn(Time) -> f64,
) {
    let lane_height = (frame.bottom - frame.top) / record.gpus.len().max(1) as f64;
    let margin = (lane_height * 0.06).min(4.0);
    let residents = residents(record);
    let depth = residents.iter().map(|resident| resident.slot + 1).max().unwrap_or(1);
    let height = (lane_height - 2.0 * margin) / depth as f64;
    let gap = if height > 8.0 { 1.0 } else { 0.0 };
    let mut crosses = Vec::new();
    for Resident { gpu, slot, attempt } in residents {
        let color = families.color(&record.jobs[attempt.job].workload);
        let bottom = frame.top + (gpu + 1) as f64 * lane_height - margin - slot as f64 * height;
        let (top, bottom) = (bottom - height + gap, bottom);
        let [launch, active, end] =
            [attempt.launch, attempt.first_activity.unwrap_or(attempt.end), attempt.end]
                .map(|time| frame.at_x(since(time)));
        // However short, it can be seen; neighbours are kept apart where there is room.
        let end = if end - launch > 6.0 { end - 1.0 } else { end.max(launch + 1.0) };
        figure.rect((launch, top), (end, bottom), color);
        if active - launch > 0.25 {
            figure.rect((launch, top), (active.min(end), bottom), tint(color, STARTUP));
        }
        if attempt.outcome == Outcome::OutOfMemory {
            crosses.push((end, (top + bottom) / 2.0));
        }
    }
    let radius = (height * 0.3).clamp(4.0, 8.0);
    for (x, y) in crosses {
        figure.cross((x, y), radius);
    }
}

/// An attempt on one of its GPUs.
struct Resident<'a> {
    gpu: usize,
    /// From the bottom of the GPU's lane.
    slot: usize,
    attempt: &'a Attempt,
}

/// Attempts in the lowest slots that are free from their launch to their end.
fn residents(record: &RunRecord) -> Vec<Resident<'_>> {
    let mut free_from: Vec<Vec<Time>> = vec![Vec::new(); record.gpus.len()];
    let mut attempts: Vec<&Attempt> = record.attempts.iter().collect();
    attempts.sort_by_key(|attempt| attempt.launch);
    let mut residents = Vec::new();
    for attempt in attempts {
        for &gpu in record.gpus_of(attempt) {
            let slots = &mut free_from[gpu];
            let slot = slots.iter().position(|free| *free <= attempt.launch).unwrap_or(slots.len());
            match slots.get_mut(slot) {
                Some(free) => *free = attempt.end,
                None => slots.push(attempt.end),
            }
            residents.push(Resident { gpu, slot, attempt });
        }
    }
    residents
}

/// Counts over time as an area. Means over slices too thin to see: a thousand waits of a second each are
/// no queue.
fn draw_counts(
    figure: &mut Figure,
    frame: &Frame,
    record: &RunRecord,
    counts: &[(Time, usize)],
    color: RGBColor,
) {
    let slices = (frame.right - frame.left) as usize;
    let counts: Vec<(Time, [f64; 1])> = counts.iter().map(|(time, count)| (*time, [*count as f64])).collect();
    let means = binned(&counts, record.start, record.end, slices);
    let width = (frame.right - frame.left) / slices.max(1) as f64;
    let mut from = 0;
    for slices in means.chunk_by(|a, b| (a[0] - b[0]).abs() < 1e-9) {
        let (left, to) = (frame.left + from as f64 * width, from + slices.len());
        if slices[0][0] > 0.0 {
            let right = frame.left + to as f64 * width;
            figure.rect((left, frame.at_y(slices[0][0])), (right, frame.bottom), color);
        }
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn jobs_that_overlap_on_a_gpu_are_stacked() {
        let record = fixture::record();
        let slots: Vec<_> = residents(&record).iter().map(|r| (r.gpu, r.slot, r.attempt.number)).collect();
        assert_eq!(slots, [(0, 0, 1), (0, 1, 1), (1, 0, 2)]);
    }

    #[test]
    fn lanes_name_their_server_where_there_are_several() {
        let mut record = fixture::record();
        assert_eq!(lane_labels(&record), ["GPU 0", "GPU 1"]);
        record.gpus[1].server = 1;
        record.gpus[1].index = 0;
        assert_eq!(lane_labels(&record), ["0/GPU 0", "1/GPU 0"]);
    }

    #[test]
    fn runs_without_jobs_or_length_are_drawn() {
        let mut record = fixture::record();
        record.end = record.start;
        assert!(timeline(&record).svg().is_ok());
        record.attempts.clear();
        record.jobs.clear();
        record.gpus.clear();
        assert!(timeline(&record).svg().is_ok());
    }
}
