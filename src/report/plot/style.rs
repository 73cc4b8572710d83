//! One look for all figures: sizes for a paper column, and the palette of Okabe and Ito, which colour-blind
//! readers can tell apart.

use plotters::style::RGBColor;

/// Canvas width in units of the figures' coordinates; at a column of 3.3 in, 24 of them are 6.3 pt.
pub(super) const WIDTH: f64 = 900.0;
pub(super) const TICK_TEXT: f64 = 22.0;
pub(super) const LABEL_TEXT: f64 = 24.0;
/// Between the canvas's edge and anything drawn.
pub(super) const MARGIN: f64 = 12.0;
pub(super) const LINE: f64 = 3.0;

pub(super) const BLACK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(super) const WHITE: RGBColor = RGBColor(0xff, 0xff, 0xff);
pub(super) const AXIS: RGBColor = RGBColor(0x55, 0x55, 0x55);
pub(super) const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);

pub(super) const GREY: RGBColor = RGBColor(0x8c, 0x8c, 0x8c);
pub(super) const ORANGE: RGBColor = RGBColor(0xe6, 0x9f, 0x00);
pub(super) const SKY: RGBColor = RGBColor(0x56, 0xb4, 0xe9);
pub(super) const GREEN: RGBColor = RGBColor(0x00, 0x9e, 0x73);
pub(super) const YELLOW: RGBColor = RGBColor(0xf0, 0xe4, 0x42);
pub(super) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
pub(super) const VERMILLION: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
pub(super) const PURPLE: RGBColor = RGBColor(0xcc, 0x79, 0xa7);

/// Lengths drawn and skipped in turn; empty for a solid line.
pub(super) type Dash = &'static [f64];

/// How a line, or a bar by its colour, is told from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub color: RGBColor,
    pub dash: Dash,
    pub width: f64,
}

/// For policies without a look of their own: variants of AEGIS, mostly. The second half are shades of the
/// first, with other dashes.
const VARIANTS: [(RGBColor, Dash); 10] = [
    (VERMILLION, &[16.0, 5.0, 4.0, 5.0]),
    (BLUE, &[9.0, 5.0]),
    (PURPLE, &[22.0, 6.0]),
    (YELLOW, &[]),
    (BLACK, &[4.0, 4.0]),
    (RGBColor(0x80, 0x38, 0x00), &[]),
    (RGBColor(0x8c, 0xc5, 0xe8), &[16.0, 5.0, 4.0, 5.0]),
    (RGBColor(0x7a, 0x3d, 0x5e), &[9.0, 5.0]),
    (RGBColor(0x9c, 0x91, 0x10), &[22.0, 6.0]),
    (RGBColor(0x7f, 0xd0, 0xb9), &[4.0, 4.0]),
];

/// A look for each policy. The four policies keep theirs in every figure; others take theirs in the order
/// in which they stand here.
pub(super) fn looks<'a>(policies: impl IntoIterator<Item = &'a str>) -> Vec<Look> {
    let mut variants = VARIANTS.iter().cycle();
    policies
        .into_iter()
        .map(|policy| {
            let (color, dash, width): (RGBColor, Dash, f64) = match policy {
                "exclusive" => (GREY, &[], LINE),
                "horus" => (ORANGE, &[12.0, 6.0], LINE),
                "lucid" => (SKY, &[18.0, 5.0, 4.0, 5.0], LINE),
                "aegis" => (GREEN, &[], LINE + 1.0),
                _ => {
                    let (color, dash) = variants.next().copied().unwrap_or((BLACK, &[]));
                    (color, dash, LINE)
                }
            };
            Look { color, dash, width }
        })
        .collect()
}

/// A colour thinned with white; `share` is what remains of it.
pub(super) fn tint(color: RGBColor, share: f64) -> RGBColor {
    let mix = |c: u8| (255.0 - (255.0 - f64::from(c)) * share).round() as u8;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_policies_keep_their_looks_and_twelve_differ() {
        let names = ["aegis+lug", "exclusive", "aegis+bf", "aegis"];
        let some = looks(names);
        let known = looks(["exclusive", "horus", "lucid", "aegis"]);
        assert_eq!((some[1], some[3]), (known[0], known[3]));
        let many: Vec<String> = (0..8).map(|i| format!("aegis+{i}")).collect();
        let mut all = looks(many.iter().map(String::as_str));
        all.extend(known);
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a.color != b.color), "{a:?}");
        }
    }
}
