use plotters::chart::LabelAreaPosition;
use plotters::element::EmptyElement;
use plotters::style::RGBColor;

use super::figure::{
    Area, CHART, Drawn, Figure, X_NUMBERS, Y_LABELS, around, builder, draw_empty, in_units, mesh, number,
    placed,
};
use super::groups::Groups;
use super::interval::draw_bar;
use super::legend::{Key, diamond};
use super::mark::{Mark, draw_mark};
use super::stack::Stack;
use super::style::{BLUE, VERMILLION};

/// Of a chart without its title and the names below.
const HEIGHT: u32 = 400;
/// Marks and colours of the first and the second condition.
const LOOKS: [(Mark, RGBColor); 2] = [(Mark::Circle, VERMILLION), (Mark::Square, BLUE)];
/// From the middle of a group to the marks of its conditions.
const ASIDE: f64 = 0.12;

/// A figure under two conditions: a group per name.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionPanel {
    pub title: String,
    pub label: String,
    pub groups: Vec<ConditionGroup>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConditionGroup {
    pub name: String,
    /// Of each condition: lower end of the interval, median, upper end.
    pub values: [[f64; 3]; 2],
    /// Drawn beside the first condition.
    pub measured: Option<f64>,
}

/// Figures under two conditions, a chart each. Values that are no number are left out.
pub fn conditions(names: [&str; 2], panels: &[ConditionPanel]) -> Figure {
    let keys = names.into_iter().zip(LOOKS);
    let keys = keys.map(|(name, (mark, color))| (Key::Mark(mark, color), name.to_owned()));
    let measured = panels.iter().flat_map(|panel| &panel.groups).any(|group| group.measured.is_some());
    let measured = measured.then(|| (Key::Diamond, "measured".to_owned()));
    let stack = Stack { chart: HEIGHT, below: X_NUMBERS, last: X_NUMBERS };
    Figure::draw(keys.chain(measured), stack.height(panels.len()), |area| {
        stack.draw(area, panels, |panel| &panel.title, |area, panel, _, _| draw_panel(area, panel))?;
        if panels.iter().all(|panel| panel.groups.is_empty()) { draw_empty(area) } else { Ok(()) }
    })
}

fn draw_panel(area: &Area<'_>, panel: &ConditionPanel) -> Drawn {
    let values =
        panel.groups.iter().flat_map(|group| group.values.as_flattened().iter().chain(&group.measured));
    let groups = Groups::cut(panel.groups.iter().map(|group| group.name.as_str()), CHART);
    let mut chart = builder(area, Y_LABELS, X_NUMBERS)
        .build_cartesian_2d(groups.axis(), around(values.copied(), 0.08))?;
    mesh(&mut chart)
        .disable_x_mesh()
        .set_tick_mark_size(LabelAreaPosition::Bottom, 10)
        .x_label_formatter(&|x| groups.name(x))
        .y_label_formatter(&number)
        .y_labels(5)
        .y_desc(&panel.label)
        .draw()?;
    groups.draw_dividers(&mut chart)?;
    for (i, group) in panel.groups.iter().enumerate() {
        let middle = i as f64 + 0.5;
        for ((values, (mark, color)), side) in group.values.iter().zip(LOOKS).zip([-ASIDE, ASIDE]) {
            if values.iter().all(placed) {
                let x = in_units(middle + side);
                draw_bar(&mut chart, x, *values, color)?;
                draw_mark(&mut chart, (x, values[1]), mark, 16, color)?;
            }
        }
        if let Some(value) = group.measured.filter(placed) {
            let [outer, inner] = diamond(17);
            let x = in_units(middle - 2.0 * ASIDE);
            chart.draw_series([EmptyElement::at((x, value)) + outer + inner])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_values_are_drawn() {
        let group = |value: f64| ConditionGroup {
            name: "<a>\u{1}".into(),
            values: [[value; 3], [-value, f64::NAN, 1e300]],
            measured: Some(value),
        };
        for groups in [vec![], vec![group(0.0)], vec![group(f64::NAN), group(-3.0)], vec![group(1e-300)]] {
            let panel = ConditionPanel { title: "t & u".into(), label: "x".into(), groups };
            for panels in [vec![panel.clone(), panel], vec![]] {
                assert!(conditions(["a", "b"], &panels).png().is_ok());
            }
        }
    }
}
