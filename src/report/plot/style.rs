//! One look for all figures: sizes for a paper column, and the palette of Okabe and Ito, which colour-blind
//! readers can tell apart.

use std::sync::LazyLock;

use plotters::style::{FontStyle, IntoFont, RGBColor, TextStyle, register_font};

/// Pixels: 545 to the inch at a column of 3.3 in, where the numbers are 5.8 pt.
pub(super) const WIDTH: u32 = 1800;
/// Between the canvas's edge and anything drawn.
pub(super) const MARGIN: u32 = 20;
/// In the size of plotters, which is 1.24 times the font's.
pub(super) const TICK_TEXT: f64 = 54.0;
pub(super) const LABEL_TEXT: f64 = 59.0;
pub(super) const LINE: u32 = 6;
/// From the middle of small letters, which plotters centres, to that of capitals and digits.
pub(super) const DOWN: i32 = 4;

/// As CSS: an SVG shown where the font is not installed falls back to another sans-serif.
const FAMILY: &str = "DejaVu Sans, sans-serif";
static REGISTERED: LazyLock<bool> =
    LazyLock::new(|| register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok());

/// plotters reports a font that could not be registered when it draws.
pub(super) fn text(size: f64) -> TextStyle<'static> {
    LazyLock::force(&REGISTERED);
    TextStyle::from((FAMILY, size).into_font()).color(&BLACK)
}

pub(super) fn text_width(words: &str, size: f64) -> u32 {
    text(size).font.box_size(words).map_or(0, |(width, _)| width)
}

/// The text, or as much of it as fits into `width` with an ellipsis. XML has no control characters.
pub(super) fn fitted(words: &str, size: f64, width: u32) -> String {
    let words = words.replace(char::is_control, " ");
    let mut fitting = words.clone();
    let mut kept = words.chars().count();
    while kept > 1 && text_width(&fitting, size) > width {
        kept -= 1;
        fitting = words.chars().take(kept).chain(['…']).collect();
    }
    fitting
}

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

/// Pixels drawn and skipped in turn; none for a solid line.
pub(super) type Dash = Option<(i32, i32)>;

/// How a line, or a bar by its colour, is told from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub color: RGBColor,
    pub dash: Dash,
    pub width: u32,
}

/// For policies without a look of their own: variants of AEGIS, mostly. The second half are shades of the
/// first, with other dashes.
const VARIANTS: [(RGBColor, Dash); 10] = [
    (VERMILLION, Some((12, 8))),
    (BLUE, Some((20, 10))),
    (PURPLE, Some((44, 12))),
    (YELLOW, None),
    (BLACK, Some((8, 8))),
    (RGBColor(0x80, 0x38, 0x00), None),
    (RGBColor(0x8c, 0xc5, 0xe8), Some((12, 8))),
    (RGBColor(0x7a, 0x3d, 0x5e), Some((20, 10))),
    (RGBColor(0x9c, 0x91, 0x10), Some((44, 12))),
    (RGBColor(0x7f, 0xd0, 0xb9), Some((8, 8))),
];

/// Names in the order in which they first occur.
pub(super) fn distinct<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// A look for each policy. The four policies keep theirs in every figure; others take theirs in the order
/// in which they stand here.
pub(super) fn looks<'a>(policies: impl IntoIterator<Item = &'a str>) -> Vec<Look> {
    let mut variants = VARIANTS.iter().cycle();
    let look = |policy: &str| match policy {
        "exclusive" => Look { color: GREY, dash: None, width: LINE },
        "horus" => Look { color: ORANGE, dash: Some((28, 12)), width: LINE },
        "lucid" => Look { color: SKY, dash: Some((14, 8)), width: LINE },
        "aegis" => Look { color: GREEN, dash: None, width: LINE + 2 },
        _ => {
            let (color, dash) = variants.next().copied().unwrap_or((BLACK, None));
            Look { color, dash, width: LINE }
        }
    };
    policies.into_iter().map(look).collect()
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
