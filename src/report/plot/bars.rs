use plotters::chart::LabelAreaPosition;
use plotters::element::Rectangle;
use plotters::style::Color;

use super::figure::{
    Area, CHART, Drawn, Figure, X_LABELS, X_NUMBERS, Y_LABELS, builder, draw_empty, fraction, in_units, mesh,
    placed, usable,
};
use super::groups::Groups;
use super::legend::Key;
use super::stack::Stack;
use super::style::{Look, distinct, looks};

/// Of a chart without its title and what is below.
const HEIGHT: u32 = 480;

/// A chart of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPanel {
    pub title: String,
    /// Of the vertical axis.
    pub label: String,
    /// A name, and a value for each group. What is no number is left out.
    pub series: Vec<(String, Vec<f64>)>,
}

/// Bars side by side in groups that all charts share; `label` is that of the groups. Colours are names of series.
pub fn bars(groups: &[&str], label: &str, panels: &[BarPanel]) -> Figure {
    let names = distinct(panels.iter().flat_map(|panel| &panel.series).map(|(name, _)| name.as_str()));
    let looks = looks(names.iter().copied());
    let keys = names.iter().zip(&looks).map(|(name, look)| (Key::Fill(look.color), (*name).to_owned()));
    let groups = Groups::turned(groups.iter().copied(), CHART);
    let below = groups.height();
    let stack = Stack { chart: HEIGHT, below, last: below + X_LABELS - X_NUMBERS };
    Figure::draw(keys, stack.height(panels.len()), |area| {
        stack.draw(
            area,
            panels,
            |panel| &panel.title,
            |area, panel, bottom, last| {
                draw(area, bottom, &groups, last.then_some(label), panel, &names, &looks)
            },
        )?;
        if panels.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

fn draw(
    area: &Area<'_>,
    bottom: u32,
    groups: &Groups,
    label: Option<&str>,
    panel: &BarPanel,
    names: &[&str],
    looks: &[Look],
) -> Drawn {
    let drawn = |value: &f64| *value >= 0.0 && placed(value);
    let values = || panel.series.iter().flat_map(|(_, values)| values).copied().filter(drawn);
    let high = usable(values().fold(0.0, f64::max) * 1.05);
    let mut chart = builder(area, Y_LABELS, bottom).build_cartesian_2d(groups.axis(), 0.0..high)?;
    let name = |x: &i32| groups.name(x);
    let mut style = mesh(&mut chart);
    style.disable_x_mesh().x_label_formatter(&name).y_label_formatter(&fraction).y_labels(5);
    style.set_tick_mark_size(LabelAreaPosition::Bottom, groups.tick()).y_desc(&panel.label);
    if let Some(label) = label {
        style.x_desc(label);
    }
    style.draw()?;
    groups.draw_dividers(&mut chart)?;
    // The space between groups is as wide as a bar, within limits.
    let pitch = (1.0 / (names.len() as f64 + 1.0)).min(0.3);
    let gap = pitch * 0.07;
    for (name, values) in &panel.series {
        let Some(k) = names.iter().position(|other| other == name) else { continue };
        for (i, value) in values.iter().enumerate().filter(|(_, value)| drawn(value)) {
            let x = i as f64 + 0.5 + (k as f64 - names.len() as f64 / 2.0) * pitch;
            let corners = [(in_units(x + gap), 0.0), (in_units(x + pitch - gap), *value)];
            chart.draw_series([Rectangle::new(corners, looks[k].color.filled())])?;
        }
    }
    groups.draw_upright(area, &chart, 0.0)?;
    if values().next().is_none() { draw_empty(area) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bars_are_drawn() {
        for values in [vec![], vec![f64::NAN, -1.0, 1e300], vec![0.0, 0.5, 1.0]] {
            let series = vec![("<&>\u{1}".to_owned(), values.clone()), ("b".to_owned(), values)];
            let panel = BarPanel { title: "t & u".into(), label: "share".into(), series };
            for groups in [&[][..], &["1", "2", "a very long name of a group\u{0}"]] {
                assert!(bars(groups, "GPUs", &[panel.clone(), panel.clone()]).png().is_ok());
            }
        }
        assert!(bars(&["1"], "GPUs", &[]).png().is_ok());
    }
}
