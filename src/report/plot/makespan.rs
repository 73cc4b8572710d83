use super::axis::{Axis, Frame};
use super::figure::Figure;
use super::legend::{Key, Legend, diamond};
use super::style::{AXIS, LABEL_TEXT, MARGIN, WIDTH, looks};
use super::text::{Align, fitted, text_width};
use crate::metrics::geometric_mean;

const PLOT_HEIGHT: f64 = 410.0;
/// Longest label that reads upwards, as labels do where they are wider than their groups.
const UPRIGHT_LABEL: f64 = 220.0;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub policy: String,
    /// Makespan as a multiple of that under exclusive allocation.
    pub value: f64,
    /// The same, as measured on hardware.
    pub measured: Option<f64>,
}

/// The bars of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// Bars of normalised makespans: a group for each trace and, with several, one of their geometric means.
///
/// Policies stand in the order of their first bar. The mean is of the groups that have a bar of the
/// policy; it is marked as measured only where all of these are. Bars that are no positive number are
/// left out.
pub fn makespan_bars(groups: &[BarGroup]) -> Figure {
    let mut policies: Vec<&str> = Vec::new();
    for bar in groups.iter().flat_map(|group| &group.bars) {
        if !policies.contains(&bar.policy.as_str()) {
            policies.push(&bar.policy);
        }
    }
    let mut groups: Vec<BarGroup> = groups.to_vec();
    let traces = groups.len();
    if traces > 1 {
        groups.push(BarGroup {
            label: "geomean".to_owned(),
            bars: policies.iter().filter_map(|policy| mean_bar(&groups, policy)).collect(),
        });
    }
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let drawn = |value: &f64| value.is_finite() && *value > 0.0;
    let measured = || bars().filter_map(|bar| bar.measured).filter(drawn);

    let looks = looks(policies.iter().copied());
    let keys =
        policies.iter().zip(&looks).map(|(policy, look)| (Key::Fill(look.color), (*policy).to_owned()));
    let mark = measured().next().map(|_| (Key::Diamond, "measured".to_owned()));
    let legend = Legend::new(keys.chain(mark));
    let top = MARGIN + legend.height() + 14.0;
    let high = bars().map(|bar| bar.value).filter(drawn).chain(measured()).fold(1.0, f64::max);
    let frame = Frame {
        left: 110.0,
        top,
        right: WIDTH - MARGIN,
        bottom: top + PLOT_HEIGHT,
        x: Axis::to(groups.len() as f64, 1),
        y: Axis::rounded(high * 1.02, 6),
    };
    let group_width = frame.at_x(1.0) - frame.left;
    let widest = groups.iter().map(|group| text_width(&group.label, LABEL_TEXT)).fold(0.0, f64::max);
    let upright = widest > group_width - 10.0;
    let labels = if upright { 24.0 + widest.min(UPRIGHT_LABEL) } else { 44.0 };
    let mut figure = Figure::new(WIDTH, frame.bottom + labels);
    legend.draw(&mut figure, MARGIN);
    frame.draw_y(&mut figure, "makespan / exclusive");
    frame.draw_reference(&mut figure, 1.0);

    // The space between groups is as wide as a bar, within limits.
    let pitch = (group_width / (policies.len() as f64 + 1.0)).min(group_width * 0.22);
    let gap = if pitch > 10.0 { 2.0 } else { 0.5 };
    for (i, group) in groups.iter().enumerate() {
        let middle = frame.at_x(i as f64 + 0.5);
        for (k, (policy, look)) in policies.iter().zip(&looks).enumerate() {
            let Some(bar) = group.bars.iter().find(|bar| bar.policy == *policy) else { continue };
            let x = middle + (k as f64 - policies.len() as f64 / 2.0) * pitch;
            if drawn(&bar.value) {
                let corner = (x + gap, frame.at_y(bar.value));
                figure.rect(corner, (x + pitch - gap, frame.bottom), look.color);
            }
            if let Some(value) = bar.measured.filter(drawn) {
                let radius = (pitch * 0.3).clamp(3.5, 9.0);
                diamond(&mut figure, (x + pitch / 2.0, frame.at_y(value)), radius);
            }
        }
        if upright {
            let label = fitted(&group.label, LABEL_TEXT, UPRIGHT_LABEL);
            let length = text_width(&label, LABEL_TEXT);
            figure.upright_text(&label, (middle, frame.bottom + 12.0 + length / 2.0), LABEL_TEXT);
        } else {
            figure.text(&group.label, (middle, frame.bottom + 24.0), LABEL_TEXT, Align::Center);
        }
    }
    if traces > 1 {
        let x = frame.at_x(traces as f64);
        figure.line((x, frame.top), (x, frame.bottom + labels - 8.0), AXIS, 2.0);
    }
    if bars().next().is_none() {
        frame.draw_empty(&mut figure);
    }
    frame.draw_edges(&mut figure);
    figure
}

/// The geometric mean of a policy's bars.
fn mean_bar(groups: &[BarGroup], policy: &str) -> Option<Bar> {
    let bars = || groups.iter().filter_map(|group| group.bars.iter().find(|bar| bar.policy == policy));
    let values: Vec<f64> = bars().map(|bar| bar.value).collect();
    let measured: Option<Vec<f64>> = bars().map(|bar| bar.measured).collect();
    (!values.is_empty()).then(|| Bar {
        policy: policy.to_owned(),
        value: geometric_mean(&values),
        measured: measured.map(|measured| geometric_mean(&measured)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_geometric_and_measured_only_where_all_are() {
        let bar = |value, measured| Bar { policy: "aegis".into(), value, measured };
        let mut groups = [("a", bar(0.25, Some(0.5))), ("b", bar(1.0, Some(0.5)))]
            .map(|(label, bar)| BarGroup { label: label.into(), bars: vec![bar] });
        assert_eq!(mean_bar(&groups, "aegis"), Some(bar(0.5, Some(0.5))));
        groups[0].bars[0].measured = None;
        assert_eq!(mean_bar(&groups, "aegis"), Some(bar(0.5, None)));
        assert_eq!(mean_bar(&groups, "horus"), None);
    }
}
