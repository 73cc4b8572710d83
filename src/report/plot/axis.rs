//! Axes, their ticks, and the frame that data stand in.

use super::figure::{Figure, Point};
use super::style::{AXIS, BLACK, GRID, LABEL_TEXT, MARGIN, TICK_TEXT};
use super::text::{Align, text_width};
use crate::engine::Time;

/// A direction of a frame: limits, and where the numbers stand.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From zero to `high` exactly, with numbers at `count` steps at most.
    pub fn to(high: f64, count: usize) -> Axis {
        let high = usable(high);
        Axis::with_step(high, nice_step(high / count.max(1) as f64))
    }

    /// From zero to the first step at or after `high`.
    pub fn rounded(high: f64, count: usize) -> Axis {
        let high = usable(high);
        let step = nice_step(high / count.max(1) as f64);
        Axis::with_step((high / step - 1e-9).ceil() * step, step)
    }

    fn with_step(high: f64, step: f64) -> Axis {
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let steps = (high / step + 1e-9).floor() as usize;
        let ticks = (0..=steps).map(|i| i as f64 * step).map(|tick| (tick, number(tick, decimals)));
        Axis { low: 0.0, high, log: false, ticks: ticks.collect() }
    }

    /// Counts: no fractions between the ticks.
    pub fn counts(high: usize, count: usize) -> Axis {
        let high = high.max(1);
        Axis::rounded(high as f64, count.clamp(1, high))
    }

    /// Logarithmic, from a little before to a little after positive values, with `count` ticks at most
    /// and two at least.
    pub fn log(low: f64, high: f64, count: usize) -> Axis {
        let valid = low > 0.0 && high >= low && high.is_finite();
        let (low, high) = if valid { (low, high) } else { (1.0, 10.0) };
        // Values within a fifth of each other need room around them for numbers to stand at.
        let (low, high) = if high < 1.2 * low { (low / 2.0, high * 2.0) } else { (low, high) };
        let margin = (high / low).powf(0.03);
        let (low, high) = (low / margin, high * margin);
        let fine = LOG_STEPS.iter().map(|steps| log_ticks(low, high, steps, 1));
        let coarse = (2..400).map(|every| log_ticks(low, high, &[1.0], every));
        let ticks = fine.chain(coarse).find(|ticks| ticks.len() <= count.max(2)).unwrap_or_default();
        Axis { low, high, log: true, ticks }
    }

    /// A horizontal axis of `width`: as many numbers as have room, 8 at most.
    pub fn fitting(width: f64, axis: impl Fn(usize) -> Axis) -> Axis {
        let room = |axis: &Axis| {
            let ends = axis.ticks.iter().map(|(tick, text)| {
                let (middle, half) = (axis.share(*tick) * width, text_width(text, TICK_TEXT) / 2.0);
                (middle - half, middle + half)
            });
            let ends: Vec<(f64, f64)> = ends.collect();
            ends.windows(2).all(|pair| pair[0].1 + 0.6 * TICK_TEXT <= pair[1].0)
        };
        (2..=8).rev().map(&axis).find(room).unwrap_or_else(|| axis(1))
    }

    /// How far along the axis a value stands, 0..1; values beyond its ends stand at its ends.
    fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

/// A limit that makes an axis, whatever the values were.
fn usable(high: f64) -> f64 {
    if high.is_finite() && high > 1e-100 { high } else { 1.0 }
}

/// Where numbers stand within a decade of a logarithmic axis, finest first.
const LOG_STEPS: [&[f64]; 5] = [
    &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    &[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 2.0, 5.0],
    &[1.0],
];

/// Steps of every so many decades that are within the limits.
fn log_ticks(low: f64, high: f64, steps: &[f64], every: usize) -> Vec<(f64, String)> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let decades = decades.filter(|decade| decade.rem_euclid(every as i32) == 0);
    let ticks = decades.flat_map(|decade| steps.iter().map(move |step| (decade, *step)));
    ticks
        .map(|(decade, step)| {
            let decimals = -decade + if step.fract() > 0.0 { 1 } else { 0 };
            (step * 10f64.powi(decade), decimals.max(0) as usize)
        })
        .filter(|(tick, _)| (low..=high).contains(tick))
        .map(|(tick, decimals)| (tick, number(tick, decimals)))
        .collect()
}

/// 1, 2 or 5 times a power of ten, at or above `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|k| k * power)
        .find(|nice| *nice >= step * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// A tick's number.
fn number(value: f64, decimals: usize) -> String {
    if value != 0.0 && !(0.000_95..99_999.5).contains(&value) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    format!("{value:.decimals$}")
}

/// The unit in which a span reads best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeUnit {
    pub name: &'static str,
    pub seconds: f64,
}

impl TimeUnit {
    pub fn of(span: Time) -> TimeUnit {
        match span.as_s() {
            s if s >= 2.0 * 3600.0 => TimeUnit { name: "h", seconds: 3600.0 },
            s if s >= 2.0 * 60.0 => TimeUnit { name: "min", seconds: 60.0 },
            _ => TimeUnit { name: "s", seconds: 1.0 },
        }
    }
}

/// Where data stand, with an axis each way.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    pub x: Axis,
    pub y: Axis,
}

impl Frame {
    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.at_x(x), self.at_y(y))
    }

    pub fn at_x(&self, x: f64) -> f64 {
        self.left + self.x.share(x) * (self.right - self.left)
    }

    pub fn at_y(&self, y: f64) -> f64 {
        self.bottom - self.y.share(y) * (self.bottom - self.top)
    }

    /// Grid lines and numbers of the vertical axis, and its label at the figure's edge.
    pub fn draw_y(&self, figure: &mut Figure, label: &str) {
        for (tick, text) in &self.y.ticks {
            let y = self.at_y(*tick);
            figure.line((self.left, y), (self.right, y), GRID, 1.5);
            figure.text(text, (self.left - 10.0, y), TICK_TEXT, Align::Right);
        }
        let x = MARGIN + LABEL_TEXT / 2.0;
        figure.upright_text(label, (x, (self.top + self.bottom) / 2.0), LABEL_TEXT);
    }

    /// Grid lines of the horizontal axis.
    pub fn draw_x_grid(&self, figure: &mut Figure) {
        for (tick, _) in &self.x.ticks {
            let x = self.at_x(*tick);
            figure.line((x, self.top), (x, self.bottom), GRID, 1.5);
        }
    }

    /// Numbers of the horizontal axis and its label, [`X_AXIS_HEIGHT`] in all.
    pub fn draw_x(&self, figure: &mut Figure, label: &str) {
        for (tick, text) in &self.x.ticks {
            let x = self.at_x(*tick);
            figure.line((x, self.bottom), (x, self.bottom + 7.0), AXIS, 2.0);
            figure.text(text, (x, self.bottom + 24.0), TICK_TEXT, Align::Center);
        }
        let middle = (self.left + self.right) / 2.0;
        figure.text(label, (middle, self.bottom + 56.0), LABEL_TEXT, Align::Center);
    }

    /// The lines of the two axes, over the data.
    pub fn draw_edges(&self, figure: &mut Figure) {
        figure.line((self.left, self.top), (self.left, self.bottom), AXIS, 2.0);
        figure.line((self.left - 1.0, self.bottom), (self.right, self.bottom), AXIS, 2.0);
    }

    /// Says that there is nothing to see, which an empty frame leaves open.
    pub fn draw_empty(&self, figure: &mut Figure) {
        let middle = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        figure.text("no data", middle, LABEL_TEXT, Align::Center);
    }

    /// A reference line at `y`.
    pub fn draw_reference(&self, figure: &mut Figure, y: f64) {
        figure.path(&[(self.left, self.at_y(y)), (self.right, self.at_y(y))], BLACK, 2.0, &[8.0, 6.0]);
    }

    /// A step function, constant from each point to the next.
    pub fn steps(&self, values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for (x, y) in values {
            let point = self.at(x, y);
            if let Some(&(_, before)) = points.last() {
                points.push((point.0, before));
            }
            points.push(point);
        }
        points
    }
}

/// Height of the numbers and the label below a frame.
pub(super) const X_AXIS_HEIGHT: f64 = 72.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers_without_silly_digits() {
        assert_eq!(texts(&Axis::to(23.7, 6)), ["0", "5", "10", "15", "20"]);
        assert_eq!(texts(&Axis::rounded(1.07, 6)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]);
        assert_eq!(texts(&Axis::counts(1, 4)), ["0", "1"]);
        assert_eq!(texts(&Axis::counts(35, 3)), ["0", "20", "40"]);
        assert_eq!(texts(&Axis::to(3e7, 3)), ["0", "1e7", "2e7", "3e7"]);
    }

    #[test]
    fn log_ticks_refine_and_thin_out() {
        assert_eq!(texts(&Axis::log(1.0, 2.4, 6)), ["1", "1.2", "1.4", "1.6", "1.8", "2"]);
        assert_eq!(texts(&Axis::log(1.0, 2.4, 5)), ["1", "1.5", "2"]);
        let steps = ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"];
        assert_eq!(texts(&Axis::log(0.02, 9.8, 9)), steps);
        assert_eq!(texts(&Axis::log(0.02, 9.8, 8)), ["0.1", "1", "10"]);
        assert_eq!(texts(&Axis::log(0.01, 1e9, 6)), ["0.01", "1", "100", "10000", "1e6", "1e8"]);
        assert!(texts(&Axis::log(3.0, 3.0, 6)).len() >= 2);
    }

    #[test]
    fn unusable_limits_still_make_an_axis() {
        for high in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Axis::rounded(high, 5).high, 1.0);
            assert!(Axis::log(high, high, 5).high > 1.0);
        }
    }
}
