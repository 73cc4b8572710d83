use plotters::chart::LabelAreaPosition;
use plotters::element::{DashedPathElement, EmptyElement, PathElement, Rectangle};
use plotters::style::Color;

use super::figure::{Figure, Y_LABELS, builder, draw_empty, fraction, in_units, mesh};
use super::groups::Groups;
use super::legend::{Key, diamond};
use super::style::{AXIS, BLACK, WIDTH, distinct, looks};
use crate::metrics::geometric_mean;

const HEIGHT: u32 = 840;

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
    let policies = distinct(groups.iter().flat_map(|group| &group.bars).map(|bar| bar.policy.as_str()));
    let mut groups: Vec<BarGroup> = groups.to_vec();
    let traces = groups.len();
    if traces > 1 {
        groups.push(BarGroup {
            label: "geomean".to_owned(),
            bars: policies.iter().filter_map(|policy| mean_bar(&groups, policy)).collect(),
        });
    }
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let drawn = |value: &f64| *value > 0.0 && *value < 1e100;
    let measured = || bars().filter_map(|bar| bar.measured).filter(drawn);

    let looks = looks(policies.iter().copied());
    let keys =
        policies.iter().zip(&looks).map(|(policy, look)| (Key::Fill(look.color), (*policy).to_owned()));
    let mark = measured().next().map(|_| (Key::Diamond, "measured".to_owned()));
    let high = bars().map(|bar| bar.value).filter(drawn).chain(measured()).fold(1.0, f64::max);
    let count = groups.len().max(1) as f64;
    let width = WIDTH - Y_LABELS - 90;
    let group_width = f64::from(width) / count;
    let labels = Groups::turned(groups.iter().map(|group| group.label.as_str()), width);
    // The space between groups is as wide as a bar, within limits.
    let pitch = (1.0 / (policies.len() as f64 + 1.0)).min(0.22);
    let gap = pitch * 0.07;
    let radius = (pitch * group_width * 0.3).clamp(8.0, 18.0) as i32;

    Figure::draw(keys.chain(mark), HEIGHT + labels.height(), |area| {
        let mut chart =
            builder(area, Y_LABELS, labels.height()).build_cartesian_2d(labels.axis(), 0.0..high * 1.05)?;
        mesh(&mut chart)
            .disable_x_mesh()
            .set_tick_mark_size(LabelAreaPosition::Bottom, labels.tick())
            .x_label_formatter(&|x| labels.name(x))
            .y_label_formatter(&fraction)
            .y_desc("makespan / exclusive")
            .draw()?;
        let reference = [(0, 1.0), (in_units(count), 1.0)];
        chart.draw_series([DashedPathElement::new(reference, 16, 12, BLACK.stroke_width(4))])?;
        for (i, group) in groups.iter().enumerate() {
            for (k, (policy, look)) in policies.iter().zip(&looks).enumerate() {
                let Some(bar) = group.bars.iter().find(|bar| bar.policy == *policy) else { continue };
                let x = i as f64 + 0.5 + (k as f64 - policies.len() as f64 / 2.0) * pitch;
                if drawn(&bar.value) {
                    let corners = [(in_units(x + gap), 0.0), (in_units(x + pitch - gap), bar.value)];
                    chart.draw_series([Rectangle::new(corners, look.color.filled())])?;
                }
                if let Some(value) = bar.measured.filter(drawn) {
                    let [outer, inner] = diamond(radius);
                    chart.draw_series([EmptyElement::at((in_units(x + pitch / 2.0), value))
                        + outer
                        + inner])?;
                }
            }
        }
        if traces > 1 {
            let (x, top) = (in_units(traces as f64), high * 1.05);
            chart.draw_series([PathElement::new([(x, 0.0), (x, top)], AXIS.stroke_width(4))])?;
        }
        labels.draw_upright(area, &chart, 0.0)?;
        if bars().next().is_none() {
            draw_empty(area)?;
        }
        Ok(())
    })
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
    fn any_label_is_drawn() {
        let bars = vec![Bar { policy: "<&>\u{1}".into(), value: f64::NAN, measured: Some(2.0) }];
        for groups in [vec![], vec![BarGroup { label: "\"<\u{0}…".into(), bars }]] {
            assert!(makespan_bars(&groups).png().is_ok());
        }
    }

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
