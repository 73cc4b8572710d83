use super::figure::{Area, Drawn, TITLE, Y_LABELS, titled};

/// Charts with titles below each other.
pub(super) struct Stack {
    /// Height of a chart without its title and what is below.
    pub chart: u32,
    /// Height of what is below a chart, and below the last.
    pub below: u32,
    pub last: u32,
}

impl Stack {
    pub fn height(&self, count: usize) -> u32 {
        let count = count.max(1) as u32;
        count * (TITLE + self.chart) + (count - 1) * self.below + self.last
    }

    /// `draw` also takes the height of what is below the chart, and whether it is the last.
    pub fn draw<'p, P>(
        &self,
        area: &Area<'_>,
        panels: &'p [P],
        title: impl Fn(&'p P) -> &'p str,
        mut draw: impl FnMut(&Area<'_>, &'p P, u32, bool) -> Drawn,
    ) -> Drawn {
        let mut rest = area.clone();
        for (i, panel) in panels.iter().enumerate() {
            let last = i + 1 == panels.len();
            let bottom = if last { self.last } else { self.below };
            let (strip, below) = rest.split_vertically(TITLE + self.chart + bottom);
            draw(&titled(&strip, Y_LABELS, title(panel))?, panel, bottom, last)?;
            rest = below;
        }
        Ok(())
    }
}
