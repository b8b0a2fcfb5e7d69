//! The figures as bars, side by side, in an SVG that any browser shows.

use super::figures::Figures;

const BAR: f64 = 22.0;
const LEFT: f64 = 190.0;
const WIDTH: f64 = 420.0;

/// One panel: a name and how it is read of a subject.
type Panel = (&'static str, fn(&Figures) -> f64);

const PANELS: [Panel; 4] = [
    ("start to first event, ms", |figures| figures.init_ms.least),
    ("first delivery, ms", |figures| figures.first_ms.least),
    ("processor per warm event, ms", |figures| figures.cpu_per_event_ms),
    ("memory, MiB", |figures| figures.memory_mib),
];

/// The picture of all subjects.
pub fn svg(subjects: &[(String, Figures)]) -> String {
    let mut drawn = String::new();
    let mut top = 10.0;
    for (title, read) in PANELS {
        drawn.push_str(&text(10.0, top + 14.0, "bold", title));
        top += 22.0;
        let most = subjects.iter().map(|(_, figures)| read(figures)).fold(f64::MIN_POSITIVE, f64::max);
        for (name, figures) in subjects {
            let value = read(figures);
            let width = (value / most * WIDTH).max(1.0);
            drawn.push_str(&text(10.0, top + 14.0, "normal", name));
            drawn.push_str(&format!(
                "<rect x=\"{LEFT}\" y=\"{top:.0}\" width=\"{width:.1}\" height=\"{:.0}\" fill=\"#456990\"/>\n",
                BAR - 6.0
            ));
            drawn.push_str(&text(LEFT + width + 6.0, top + 13.0, "normal", &format!("{value:.2}")));
            top += BAR;
        }
        top += 14.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{top:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{drawn}</svg>\n",
        LEFT + WIDTH + 80.0
    )
}

fn text(x: f64, y: f64, weight: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.0}\" y=\"{y:.0}\" font-weight=\"{weight}\">{text}</text>\n")
}
