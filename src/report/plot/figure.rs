//! A figure: a legend above charts of plotters, drawn as SVG and rasterised from that.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition, MeshStyle};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::data::float::FloatPrettyPrinter;
use plotters::element::{DashedPathElement, PathElement, Text};
use plotters::prelude::{Cartesian2d, DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resvg::{tiny_skia, usvg};

use super::legend::{Key, Legend};
use super::style::{AXIS, DOWN, GRID, LABEL_TEXT, Look, MARGIN, TICK_TEXT, WHITE, WIDTH, fitted, text};
use crate::sim::RunRecord;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Chart<'a, X, Y> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>;
pub(super) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Height of the numbers and the label below a chart, and of the numbers alone.
pub(super) const X_LABELS: u32 = 128;
pub(super) const X_NUMBERS: u32 = 74;
/// To the right of a chart, where its last number reaches into.
pub(super) const RIGHT: u32 = 48;
/// Width of the label and the numbers beside a chart.
pub(super) const Y_LABELS: u32 = 200;
/// Width of a chart that has a figure's to itself.
pub(super) const CHART: u32 = WIDTH - 2 * MARGIN - Y_LABELS - RIGHT;

/// Coordinates that labels are bound to are whole, because plotters formats no other: this many to a lane
/// or a group.
pub(super) const UNIT: i32 = 1000;

pub(super) fn in_units(value: f64) -> i32 {
    (value * f64::from(UNIT)).round() as i32
}

static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    Arc::new(fonts)
});

/// A drawing, ready to be written.
#[derive(Debug, Clone)]
pub struct Figure {
    svg: Result<String, String>,
}

impl Figure {
    /// With `height` pixels for what `plot` draws below the legend.
    pub(super) fn draw(
        keys: impl IntoIterator<Item = (Key, String)>,
        height: u32,
        plot: impl FnOnce(&Area<'_>) -> Drawn,
    ) -> Figure {
        let mut svg = String::new();
        let drawn = draw(&mut svg, &Legend::new(keys), height, plot);
        Figure { svg: drawn.map(|()| svg).map_err(|e| e.to_string()) }
    }

    /// The SVG file.
    pub(super) fn svg(&self) -> Result<&str, String> {
        self.svg.as_deref().map_err(Clone::clone)
    }

    /// The PNG file: of the SVG, because the bitmap backend of plotters spaces letters unevenly and does
    /// not smooth wide lines.
    pub(super) fn png(&self) -> Result<Vec<u8>, String> {
        let options = usvg::Options { fontdb: FONTS.clone(), ..usvg::Options::default() };
        let tree = usvg::Tree::from_str(self.svg()?, &options).map_err(|e| e.to_string())?;
        let size = tree.size().to_int_size();
        let mut pixels =
            tiny_skia::Pixmap::new(size.width(), size.height()).ok_or("no pixels to draw on".to_owned())?;
        resvg::render(&tree, tiny_skia::Transform::identity(), &mut pixels.as_mut());
        pixels.encode_png().map_err(|e| e.to_string())
    }
}

fn draw(svg: &mut String, legend: &Legend, height: u32, plot: impl FnOnce(&Area<'_>) -> Drawn) -> Drawn {
    let height = legend.height() + height + 2 * MARGIN;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (strip, below) = root.margin(MARGIN, MARGIN, MARGIN, MARGIN).split_vertically(legend.height());
    legend.draw(&strip)?;
    plot(&below)?;
    root.present()?;
    Ok(())
}

/// A chart's surroundings: `left` and `bottom` are the room for labels.
pub(super) fn builder<'a, 'b>(
    area: &'a Area<'b>,
    left: u32,
    bottom: u32,
) -> ChartBuilder<'a, 'static, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder
        .margin_top(32)
        .margin_right(RIGHT)
        .set_label_area_size(LabelAreaPosition::Left, left)
        .set_label_area_size(LabelAreaPosition::Bottom, bottom);
    builder
}

/// Height of a panel's title, and how much nearer it is to its own chart than to the one above.
pub(super) const TITLE: u32 = 72;
const LOWER: i32 = 20;

/// Writes a title above the middle of a chart that has `left` for labels, and gives back the area below it.
pub(super) fn titled<'a>(
    area: &Area<'a>,
    left: u32,
    title: &str,
) -> Result<Area<'a>, Box<dyn std::error::Error>> {
    let (strip, below) = area.split_vertically(TITLE);
    let width = area.dim_in_pixel().0.saturating_sub(left + RIGHT);
    let style = text(LABEL_TEXT).pos(Pos::new(HPos::Center, VPos::Center));
    let middle = ((left + width / 2) as i32, TITLE as i32 / 2 + LOWER + DOWN);
    strip.draw(&Text::new(fitted(title, LABEL_TEXT, width + RIGHT), middle, style))?;
    Ok(below)
}

/// Grid, numbers and axes in the style of all figures.
pub(super) fn mesh<'a, 'b, X, Y>(chart: &'b mut Chart<'a, X, Y>) -> MeshStyle<'a, 'b, X, Y, SVGBackend<'a>>
where
    X: Ranged + ValueFormatter<X::ValueType>,
    Y: Ranged + ValueFormatter<Y::ValueType>,
{
    let mut mesh = chart.configure_mesh();
    mesh.bold_line_style(GRID.stroke_width(3))
        .light_line_style(plotters::style::TRANSPARENT)
        .axis_style(AXIS.stroke_width(4))
        .label_style(text(TICK_TEXT))
        .axis_desc_style(text(LABEL_TEXT))
        .set_all_tick_mark_size(10)
        .y_label_offset(DOWN)
        .x_labels(8)
        .y_labels(7);
    mesh
}

pub(super) fn draw_line<X, Y>(
    chart: &mut Chart<'_, X, Y>,
    line: Vec<(X::ValueType, Y::ValueType)>,
    look: Look,
) -> Drawn
where
    X: Ranged<ValueType: Clone + 'static>,
    Y: Ranged<ValueType: Clone + 'static>,
{
    let style = look.color.stroke_width(look.width);
    match look.dash {
        None => chart.draw_series([PathElement::new(line, style)])?,
        Some((dash, gap)) => chart.draw_series([DashedPathElement::new(line, dash, gap, style)])?,
    };
    Ok(())
}

/// A step function, constant from each point to the next.
pub(super) fn steps<Y: Copy>(values: impl IntoIterator<Item = (f64, Y)>) -> Vec<(f64, Y)> {
    let mut points: Vec<(f64, Y)> = Vec::new();
    for (x, y) in values {
        if let Some(&(_, before)) = points.last() {
            points.push((x, before));
        }
        points.push((x, y));
    }
    points
}

/// Where a chart has nothing to show, which its emptiness leaves open.
pub(super) fn draw_empty(area: &Area<'_>) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let style = text(LABEL_TEXT).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new("no data", (width as i32 / 2, height as i32 / 2), style))?;
    Ok(())
}

/// A number of an axis of fractions.
pub(super) fn fraction(value: &f64) -> String {
    FloatPrettyPrinter { allow_scientific: true, min_decimal: 1, max_decimal: 5 }.print(*value)
}

/// A number of any other axis.
pub(super) fn number(value: &f64) -> String {
    FloatPrettyPrinter { allow_scientific: true, min_decimal: 0, max_decimal: 5 }.print(*value)
}

/// A limit that makes an axis, whatever the values were.
pub(super) fn usable(high: f64) -> f64 {
    if high.is_finite() && high > 1e-100 { high } else { 1.0 }
}

/// Whether a value has a place on a linear axis.
pub(super) fn placed(value: &f64) -> bool {
    value.abs() < 1e100
}

/// From a little below to a little above all values that have a place: that share of their span.
pub(super) fn around(values: impl IntoIterator<Item = f64>, share: f64) -> Range<f64> {
    let (low, high) = values
        .into_iter()
        .filter(placed)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    // Values that are as good as equal get an axis whose numbers differ in a digit that can be read.
    let margin = match high - low > 1e-3 * high.abs().max(low.abs()) {
        true => share * (high - low),
        false => 0.05 * high.abs().max(low.abs()).max(if share > 0.0 { 1.0 } else { 1e-9 }),
    };
    low - margin..high + margin
}

/// The time of a run, in the unit in which it reads best.
pub(super) struct Span {
    pub label: String,
    pub unit_s: f64,
    pub length: f64,
}

impl Span {
    pub fn of(record: &RunRecord) -> Span {
        let (unit, unit_s) = match (record.end - record.start).as_s() {
            s if s >= 2.0 * 3600.0 => ("h", 3600.0),
            s if s >= 2.0 * 60.0 => ("min", 60.0),
            _ => ("s", 1.0),
        };
        let length = usable((record.end - record.start).as_s() / unit_s);
        Span { label: format!("time since first submission [{unit}]"), unit_s, length }
    }
}
