use super::ecdf::curve;
use super::figure::{
    Area, Drawn, Figure, X_LABELS, X_NUMBERS, Y_LABELS, builder, draw_empty, draw_line, fraction, mesh,
    number, usable,
};
use super::legend::Key;
use super::stack::Stack;
use super::style::{BLACK, LINE, Look, distinct, looks, tint};

/// Of a chart without its title and the numbers below.
const HEIGHT: u32 = 520;
/// Where they agree, the measured curve is seen on the simulated one.
const SIMULATED: (f64, u32) = (0.5, 12);
const MEASURED: (Option<(i32, i32)>, u32) = (Some((16, 10)), LINE);

/// A distribution, measured and simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Twins {
    pub policy: String,
    pub measured: Vec<f64>,
    pub simulated: Vec<f64>,
}

/// The distributions of one chart.
#[derive(Debug, Clone, PartialEq)]
pub struct EcdfPanel {
    pub title: String,
    pub curves: Vec<Twins>,
}

/// Fractions of jobs at or below a value, over the value, measured and simulated: a chart per panel, on axes that all
/// share. Colours are policies.
pub fn ecdf_panels(panels: &[EcdfPanel], label: &str) -> Figure {
    let twins = || panels.iter().flat_map(|panel| &panel.curves);
    let policies = distinct(twins().map(|twin| twin.policy.as_str()));
    let looks = looks(policies.iter().copied());
    let keys = policies.iter().zip(&looks).map(|(name, look)| (Key::Fill(look.color), (*name).to_owned()));
    let [simulated, measured] = pair(BLACK);
    let kinds =
        [(Key::Line(simulated), "simulated".to_owned()), (Key::Line(measured), "measured".to_owned())];
    let placed =
        |values: &[f64]| curve(values.iter().copied().filter(|v| (0.0..1e100).contains(v)).collect());
    let ends = twins().flat_map(|twin| twin.measured.iter().chain(&twin.simulated));
    let high = usable(ends.copied().filter(|v| *v < 1e100).fold(0.0, f64::max) * 1.03);
    let stack = Stack { chart: HEIGHT, below: X_NUMBERS, last: X_LABELS };
    Figure::draw(keys.chain(kinds), stack.height(panels.len()), |area| {
        stack.draw(
            area,
            panels,
            |panel| &panel.title,
            |area, panel, bottom, last| {
                let curves = panel.curves.iter().map(|twin| {
                    let color =
                        looks[policies.iter().position(|name| *name == twin.policy).unwrap_or(0)].color;
                    let [simulated, measured] = pair(color);
                    [(placed(&twin.simulated), simulated), (placed(&twin.measured), measured)]
                });
                let curves: Vec<_> = curves.collect();
                // All measured curves above all simulated ones.
                let layers = [0, 1].into_iter().flat_map(|layer| curves.iter().map(move |pair| &pair[layer]));
                draw_curves(area, bottom, high, last.then_some(label), layers)
            },
        )?;
        if panels.is_empty() { draw_empty(area) } else { Ok(()) }
    })
}

/// Looks of a simulated and of a measured curve.
fn pair(color: plotters::style::RGBColor) -> [Look; 2] {
    let (share, width) = SIMULATED;
    let simulated = Look { color: tint(color, share), dash: None, width };
    let (dash, width) = MEASURED;
    [simulated, Look { color, dash, width }]
}

type Curve = (Vec<(f64, f64)>, Look);

fn draw_curves<'a>(
    area: &Area<'_>,
    bottom: u32,
    high: f64,
    label: Option<&str>,
    curves: impl Iterator<Item = &'a Curve>,
) -> Drawn {
    let mut chart = builder(area, Y_LABELS, bottom).build_cartesian_2d(0.0..high, 0.0..1.0)?;
    let mut style = mesh(&mut chart);
    style.x_label_formatter(&number).y_label_formatter(&fraction).y_labels(6).y_desc("fraction of jobs");
    if let Some(label) = label {
        style.x_desc(label);
    }
    style.draw()?;
    let mut empty = true;
    for (curve, look) in curves {
        empty &= curve.is_empty();
        draw_line(&mut chart, curve.clone(), *look)?;
    }
    if empty { draw_empty(area) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_distributions_are_drawn() {
        for values in [vec![], vec![0.0], vec![f64::NAN, -1.0, 1e300], vec![1.0, 2.0]] {
            let twins = Twins { policy: "<&>".into(), measured: values.clone(), simulated: vec![] };
            let panels = vec![EcdfPanel { title: "\u{1}".into(), curves: vec![twins] }; 2];
            assert!(ecdf_panels(&panels, "x [h]").png().is_ok());
        }
        assert!(ecdf_panels(&[], "x [h]").png().is_ok());
    }
}
