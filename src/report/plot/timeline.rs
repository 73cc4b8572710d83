use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::element::{PathElement, Rectangle};
use plotters::prelude::{BindKeyPoints, SVGBackend};
use plotters::series::AreaSeries;
use plotters::style::{Color, RGBColor};

use super::families::Families;
use super::figure::{Area, Drawn, Figure, Span, UNIT, X_LABELS, builder, in_units, mesh, number, steps};
use super::legend::{Key, cross};
use super::series::{Waiting, binned};
use super::style::{AXIS, GREY, GRID, MARGIN, TICK_TEXT, VERMILLION, WIDTH, fitted, text_width, tint};
use crate::engine::Time;
use crate::sim::{Attempt, Outcome, RunRecord};

/// All lanes together: at least, for each GPU, at most.
const LANES_HEIGHT: (u32, u32, u32) = (280, 184, 1280);
const STRIP_HEIGHT: u32 = 136;
/// What remains of a family's colour while a job starts up.
const STARTUP: f64 = 0.35;
/// Narrowest job, widest label.
const NARROWEST: f64 = 0.0015;
const SLICES: usize = 750;
const WIDEST_LABEL: u32 = 500;

/// More jobs on GPUs than a figure can show apart, and than programs open gladly.
const MOST_RESIDENTS: usize = 20_000;

/// Whether a run has too many jobs on its GPUs for [`timeline`] to show them.
pub fn too_many_for_timeline(record: &RunRecord) -> bool {
    record.attempt_gpus.len() > MOST_RESIDENTS
}

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
        start_up.as_s() * f64::from(WIDTH) > 6.0 * record.makespan_s()
    };
    let start_up = record.attempts.iter().any(visible);
    let start_up = start_up.then(|| (Key::Fill(tint(GREY, STARTUP)), "start-up (light)".to_owned()));
    let death = failures.then(|| (Key::Cross, "OOM death".to_owned()));

    let waiting = Waiting::of(record);
    let mut strips = vec![("queued", &waiting.initial, GREY)];
    if !waiting.recovery.is_empty() {
        strips.push(("recovering", &waiting.recovery, VERMILLION));
    }
    let labels = lane_labels(record);
    let names = labels.iter().map(String::as_str).chain(strips.iter().map(|(name, ..)| *name));
    let left = names.map(|name| text_width(name, TICK_TEXT)).max().unwrap_or(0).min(WIDEST_LABEL) + MARGIN;
    let (least, each, most) = LANES_HEIGHT;
    let lanes = each.saturating_mul(record.gpus.len() as u32).clamp(least, most);
    let strips_height = STRIP_HEIGHT * strips.len() as u32 + X_LABELS;
    let span = Span::of(record);
    Figure::draw(families.keys().chain(start_up).chain(death), lanes + strips_height, |area| {
        let (upper, mut rest) = area.split_vertically(lanes);
        draw_lanes(&upper, left, &labels, record, &families, &span)?;
        for (i, (name, counts, color)) in strips.iter().enumerate() {
            let (strip, below) = rest.split_vertically(STRIP_HEIGHT);
            let last = i + 1 == strips.len();
            let (strip, bottom) = if last { (&rest, X_LABELS) } else { (&strip, 0) };
            // Means over slices too thin to see: a thousand waits of a second each are no queue.
            let values: Vec<_> = counts.iter().map(|(time, count)| (*time, [*count as f64])).collect();
            let means = binned(&values, record.start, record.end, SLICES);
            let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
            draw_waits(builder(strip, left, bottom), &span, name, most, &means, *color)?;
            rest = below;
        }
        Ok(())
    })
}

fn draw_waits(
    mut builder: ChartBuilder<'_, '_, SVGBackend<'_>>,
    span: &Span,
    name: &str,
    most: usize,
    means: &[[f64; 1]],
    color: RGBColor,
) -> Drawn {
    let label_at = vec![UNIT / 5, UNIT / 5 * 4];
    let mut chart = builder.build_cartesian_2d(0.0..span.length, (0..UNIT).with_key_points(label_at))?;
    let label = |y: &i32| if *y > UNIT / 2 { apart(name) } else { apart(&format!("max {most}")) };
    mesh(&mut chart)
        .disable_y_mesh()
        .set_tick_mark_size(LabelAreaPosition::Left, 0)
        .x_label_formatter(&number)
        .y_label_formatter(&label)
        .x_desc(&span.label)
        .draw()?;
    let slice = span.length / means.len().max(1) as f64;
    let at = |(i, [mean]): (usize, &[f64; 1])| (i as f64 * slice, in_units(mean / most.max(1) as f64));
    let shape = steps(means.iter().chain(means.last()).enumerate().map(at));
    chart.draw_series(AreaSeries::new(shape, 0, color.filled()))?;
    let base = [(0.0, 0), (span.length, 0)];
    chart.draw_series([PathElement::new(base, AXIS.stroke_width(4))])?;
    Ok(())
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

/// A label of an axis without ticks, which plotters puts right beside it: with a space that SVG keeps.
fn apart(label: &str) -> String {
    format!("{label}\u{a0}")
}

/// A lane for each GPU from the top down, with as many labels as have room.
fn draw_lanes(
    area: &Area<'_>,
    left: u32,
    labels: &[String],
    record: &RunRecord,
    families: &Families,
    span: &Span,
) -> Drawn {
    let lanes = labels.len().max(1) as f64;
    let pixels = f64::from(area.dim_in_pixel().1) / lanes;
    let every = (TICK_TEXT / pixels).ceil().max(1.0) as usize;
    let middles = (0..labels.len()).step_by(every).map(|gpu| in_units(lanes - 0.5 - gpu as f64)).collect();
    let mut chart = builder(area, left, 0)
        .build_cartesian_2d(0.0..span.length, (0..in_units(lanes)).with_key_points(middles))?;
    let label = |y: &i32| {
        let label = labels.get((in_units(lanes) - y) as usize / UNIT as usize).map_or("", String::as_str);
        apart(&fitted(label, TICK_TEXT, left - MARGIN))
    };
    mesh(&mut chart)
        .disable_y_mesh()
        .set_tick_mark_size(LabelAreaPosition::Left, 0)
        .y_label_formatter(&label)
        .draw()?;
    for lane in 0..labels.len() {
        let line = [(0.0, in_units(lane as f64)), (span.length, in_units(lane as f64))];
        let color = if pixels > 40.0 { AXIS } else { GRID };
        chart.draw_series([PathElement::new(line, color.stroke_width(2))])?;
    }

    let residents = residents(record);
    let depth = residents.iter().map(|resident| resident.slot + 1).max().unwrap_or(1);
    let height = 0.9 / depth as f64;
    let gap = if height * pixels > 16.0 { 2.0 / pixels } else { 0.0 };
    let radius = (height * pixels * 0.35).clamp(8.0, 14.0) as i32;
    let since = |time: Time| (time - record.start).as_s() / span.unit_s;
    let mut deaths = Vec::new();
    for Resident { gpu, slot, attempt } in residents {
        let color = families.color(&record.jobs[attempt.job].workload);
        let bottom = lanes - (gpu + 1) as f64 + 0.05 + slot as f64 * height;
        let (top, bottom) = (in_units(bottom + height - gap), in_units(bottom));
        let [launch, active, end] =
            [attempt.launch, attempt.first_activity.unwrap_or(attempt.end), attempt.end].map(since);
        // However short, it can be seen.
        let end = end.max(launch + NARROWEST * span.length).min(span.length);
        chart.draw_series([Rectangle::new([(launch, bottom), (end, top)], color.filled())])?;
        if active - launch > NARROWEST / 3.0 * span.length {
            let start_up = [(launch, bottom), (active.min(end), top)];
            chart.draw_series([Rectangle::new(start_up, tint(color, STARTUP).filled())])?;
        }
        if attempt.outcome == Outcome::OutOfMemory {
            deaths.push((end, (top + bottom) / 2));
        }
    }
    chart.draw_series(deaths.into_iter().flat_map(|at| cross(at, radius)))?;
    Ok(())
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
