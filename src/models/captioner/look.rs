//! What else can be seen of an object: colour, place, depth; and of the picture: darkness.
//!
//! Each is left out where it is doubtful. Colours are read from the middle of the upper body or of the vehicle, and
//! only where most pixels agree on a name that lamps and shadows do not invent.

use super::coco::Group;
use super::detect::Area;
use super::objects::{Kind, Object};
use crate::domain::Picture;

/// Left and right third of the picture end here.
const LEFT_UNTIL: f32 = 0.36;
const RIGHT_FROM: f32 = 0.64;
/// A box this wide is nowhere in particular.
const EVERYWHERE: f32 = 0.6;
/// Heights in the picture for one metre: above is near, below is far.
const NEAR: f32 = 0.32;
const FAR: f32 = 0.075;
/// Part of the pixels that have to agree on a colour.
const AGREEING: f32 = 0.55;
/// A person narrower than this (height by width) is bent, seated or cut off: where the upper body is, is unknown.
const UPRIGHT: f32 = 1.4;
/// Darker than this (brightest channel, 0..=255) a pixel is black, unless it has more chroma than that: navy, maroon.
const BLACK: (f32, f32) = (64.0, 22.0);
/// Fewer pixels across and down have no colour of their own.
const SMALLEST: (f32, f32) = (14.0, 28.0);
/// Mean luma (0..=255) below which a picture is dark.
const DARK: f64 = 45.0;
/// Mean chroma (0..=255) below which a camera shows no colours.
const COLOURLESS: f64 = 4.0;

/// A third of the picture, by the middle of the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Left,
    Centre,
    Right,
}

/// By apparent size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Foreground,
    Background,
}

/// Colours that survive bad light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Colour {
    Black,
    White,
    Red,
    Yellow,
    Green,
    Blue,
}

/// An object and what can be said of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    pub(super) place: Option<Place>,
    pub(super) depth: Option<Depth>,
    pub(super) colour: Option<Colour>,
}

/// All that is said of one picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Scene {
    pub(super) seen: Vec<Seen>,
    /// Whether people and vehicles may be said to be absent.
    pub(super) is_empty: bool,
    pub(super) is_dark: bool,
}

/// Looks at the objects of a picture. `is_empty`: not even doubtful people or vehicles were found.
pub(super) fn look(picture: &Picture, objects: &[Object], is_empty: bool) -> Scene {
    let light = Light::of(picture);
    let seen = objects.iter().map(|object| Seen {
        kind: object.kind,
        place: place(&object.area),
        depth: depth(object),
        colour: if light.has_colours { colour(picture, object, objects) } else { None },
    });
    // In the dark nothing is found, whatever is there.
    Scene { seen: seen.collect(), is_empty: is_empty && !light.is_dark, is_dark: light.is_dark }
}

struct Light {
    is_dark: bool,
    has_colours: bool,
}

impl Light {
    /// From at most a few thousand pixels spread over the picture.
    fn of(picture: &Picture) -> Self {
        let pixels = picture.rgb().as_chunks::<3>().0;
        // An odd step does not stay in one column of an even width.
        let step = (pixels.len() / 4096) | 1;
        let (mut luma, mut chroma, mut count) = (0.0, 0.0, 0.0);
        for &[r, g, b] in pixels.iter().step_by(step) {
            luma += 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
            chroma += f64::from(r.max(g).max(b) - r.min(g).min(b));
            count += 1.0;
        }
        Self { is_dark: luma < DARK * count, has_colours: chroma >= COLOURLESS * count }
    }
}

fn place(area: &Area) -> Option<Place> {
    let middle = f32::midpoint(area.left, area.right);
    match middle {
        _ if area.width() > EVERYWHERE => None,
        _ if middle < LEFT_UNTIL => Some(Place::Left),
        _ if middle > RIGHT_FROM => Some(Place::Right),
        _ => Some(Place::Centre),
    }
}

fn depth(object: &Object) -> Option<Depth> {
    match object.area.height() / object.kind.height()? {
        large if large > NEAR => Some(Depth::Foreground),
        small if small < FAR => Some(Depth::Background),
        _ => None,
    }
}

/// Colour of the upper body of an upright person, or of a vehicle.
fn colour(picture: &Picture, object: &Object, all: &[Object]) -> Option<Colour> {
    let Area { left, top, .. } = object.area;
    let (width, height) = (object.area.width(), object.area.height());
    let (across, down) = (width * picture.width() as f32, height * picture.height() as f32);
    let part = |x: [f32; 2], y: [f32; 2]| Area {
        left: left + x[0] * width,
        right: left + x[1] * width,
        top: top + y[0] * height,
        bottom: top + y[1] * height,
    };
    let sample = match object.kind.group() {
        Group::Person => {
            let drives = |other: &Object| {
                other.kind.group() == Group::Vehicle && other.area.common(&object.area) > 0.8 * object.area.size()
            };
            if down < UPRIGHT * across || all.iter().any(drives) {
                return None;
            }
            part([0.28, 0.72], [0.20, 0.48])
        }
        // Below the windows, above the wheels.
        Group::Vehicle => part([0.2, 0.8], [0.4, 0.75]),
        _ => return None,
    };
    if across < SMALLEST.0 || down < SMALLEST.1 && object.kind.group() == Group::Person {
        return None;
    }
    // Shadows, windows and open boots are black on every vehicle.
    let is_vehicle = object.kind.group() == Group::Vehicle;
    agreed(picture, &sample).filter(|colour| !is_vehicle || *colour != Colour::Black)
}

/// The colour that most pixels of an area have, if it is one of those that are said.
fn agreed(picture: &Picture, area: &Area) -> Option<Colour> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let range = |from: f32, to: f32, side: usize| {
        let from = ((from * side as f32) as usize).min(side - 1);
        from..((to * side as f32) as usize).clamp(from + 1, side)
    };
    let (columns, rows) = (range(area.left, area.right, width), range(area.top, area.bottom, height));
    let step = (columns.len().max(rows.len()) / 32).max(1);
    let mut votes = [0usize; 6];
    let mut count = 0;
    for y in rows.step_by(step) {
        for x in columns.clone().step_by(step) {
            let at = 3 * (y * width + x);
            let rgb = &picture.rgb()[at..at + 3];
            count += 1;
            if let Some(colour) = named(rgb[0], rgb[1], rgb[2]) {
                votes[colour as usize] += 1;
            }
        }
    }
    let colours = [Colour::Black, Colour::White, Colour::Red, Colour::Yellow, Colour::Green, Colour::Blue];
    colours.into_iter().find(|colour| votes[*colour as usize] as f32 >= AGREEING * count as f32)
}

/// The name of one pixel's colour; grey, brown, orange and purple have none, since light makes them of others.
fn named(r: u8, g: u8, b: u8) -> Option<Colour> {
    let (highest, lowest) = (f32::from(r.max(g).max(b)), f32::from(r.min(g).min(b)));
    let chroma = highest - lowest;
    if highest < BLACK.0 {
        return (chroma < BLACK.1).then_some(Colour::Black);
    }
    if chroma < 0.2 * highest {
        return (highest > 190.0).then_some(Colour::White);
    }
    let (r, g, b) = (f32::from(r), f32::from(g), f32::from(b));
    let hue = 60.0
        * match highest {
            _ if highest == r => (g - b) / chroma,
            _ if highest == g => 2.0 + (b - r) / chroma,
            _ => 4.0 + (r - g) / chroma,
        };
    match hue {
        _ if chroma < 0.35 * highest => None,
        -18.0..15.0 => Some(Colour::Red),
        46.0..70.0 => Some(Colour::Yellow),
        80.0..165.0 => Some(Colour::Green),
        190.0..255.0 => Some(Colour::Blue),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::captioner::coco::Class;

    fn plain(width: u32, height: u32, rgb: [u8; 3]) -> Picture {
        Picture::new(width, height, rgb.repeat((width * height) as usize)).expect("the size fits")
    }

    fn object(class: usize, left: f32, top: f32, right: f32, bottom: f32) -> Object {
        Object { kind: Kind::Class(Class::at(class)), score: 0.9, area: Area { left, top, right, bottom } }
    }

    #[test]
    fn colours_have_names_or_none() {
        let cases = [
            ([20, 22, 30], Some(Colour::Black)),
            ([25, 25, 60], None),
            ([235, 236, 240], Some(Colour::White)),
            ([200, 30, 40], Some(Colour::Red)),
            ([230, 210, 40], Some(Colour::Yellow)),
            ([40, 150, 60], Some(Colour::Green)),
            ([40, 80, 190], Some(Colour::Blue)),
            ([128, 128, 128], None),
            ([120, 70, 40], None),
            ([230, 140, 30], None),
            ([120, 40, 150], None),
            ([150, 130, 120], None),
        ];
        for (rgb, name) in cases {
            assert_eq!(named(rgb[0], rgb[1], rgb[2]), name, "{rgb:?}");
        }
    }

    #[test]
    fn places_are_thirds() {
        let cases = [
            ((0.0, 0.2), Some(Place::Left)),
            ((0.3, 0.5), Some(Place::Centre)),
            ((0.6, 0.8), Some(Place::Right)),
            ((0.1, 0.75), None),
        ];
        for ((left, right), due) in cases {
            assert_eq!(place(&object(0, left, 0.0, right, 1.0).area), due, "{left}..{right}");
        }
    }

    #[test]
    fn depth_goes_by_size_where_size_is_known() {
        assert_eq!(depth(&object(0, 0.0, 0.1, 0.5, 0.9)), Some(Depth::Foreground));
        assert_eq!(depth(&object(0, 0.0, 0.1, 0.5, 0.4)), None);
        assert_eq!(depth(&object(2, 0.0, 0.4, 0.1, 0.48)), Some(Depth::Background));
        assert_eq!(depth(&object(62, 0.0, 0.0, 1.0, 1.0)), None);
    }

    #[test]
    fn only_upright_people_and_vehicles_have_a_colour() {
        let picture = plain(200, 200, [200, 30, 40]);
        let standing = object(0, 0.1, 0.1, 0.3, 0.7);
        let colour_of = |object: Object, all: &[Object]| colour(&picture, &object, all);
        assert_eq!(colour_of(standing, &[]), Some(Colour::Red));
        assert_eq!(colour_of(object(0, 0.1, 0.1, 0.6, 0.5), &[]), None);
        assert_eq!(colour_of(object(0, 0.1, 0.1, 0.12, 0.15), &[]), None);
        assert_eq!(colour_of(standing, &[object(2, 0.0, 0.0, 0.5, 0.8)]), None);
        assert_eq!(colour_of(object(2, 0.0, 0.0, 0.5, 0.8), &[]), Some(Colour::Red));
        assert_eq!(colour_of(object(16, 0.0, 0.0, 0.5, 0.8), &[]), None);
        let night = plain(200, 200, [20, 20, 20]);
        assert_eq!(colour(&night, &standing, &[]), Some(Colour::Black));
        assert_eq!(colour(&night, &object(2, 0.0, 0.0, 0.5, 0.8), &[]), None);
    }

    #[test]
    fn light_is_judged_over_the_whole_picture() {
        let light = |rgb| {
            let light = Light::of(&plain(640, 360, rgb));
            (light.is_dark, light.has_colours)
        };
        assert_eq!(light([10, 10, 10]), (true, false));
        assert_eq!(light([0, 0, 120]), (true, true));
        assert_eq!(light([120, 121, 120]), (false, false));
        assert!(look(&plain(64, 36, [120, 121, 120]), &[], true).is_empty);
        assert!(!look(&plain(64, 36, [10, 10, 10]), &[], true).is_empty);
        assert!(Light::of(&plain(1, 1, [9, 9, 9])).is_dark);
    }

    #[test]
    fn boxes_at_the_border_are_sampled_inside() {
        let picture = plain(3, 2, [40, 80, 190]);
        let area = Area { left: 1.0, top: 1.0, right: 1.0, bottom: 1.0 };
        assert_eq!(agreed(&picture, &area), Some(Colour::Blue));
    }
}
