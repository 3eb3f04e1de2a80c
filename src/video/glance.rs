//! A glance at a decoded picture in the decoder's own format: cheap enough for pictures that nobody samples.

use gstreamer as gst;
use gstreamer_video as gst_video;
use gstreamer_video::prelude::*;

use super::picture::ToPicture;
use crate::sight::Glance;

/// Glances at the first plane where that is brightness at 8 bits a pixel, as most decoders give it, and converts the
/// picture otherwise. `None` if it cannot be read; whoever samples it says why.
pub(super) fn glance(sample: &gst::Sample, to_picture: &mut ToPicture) -> Option<Glance> {
    let info = gst_video::VideoInfo::from_caps(sample.caps()?).ok()?;
    if !has_luma_plane(info.format()) {
        return to_picture.convert(sample).ok().map(|picture| Glance::of(&picture));
    }
    let frame = gst_video::VideoFrameRef::from_buffer_ref_readable(sample.buffer()?, &info).ok()?;
    let (width, height) = (info.width() as usize, info.height() as usize);
    let stride = usize::try_from(frame.plane_stride()[0]).ok()?;
    let rows = frame.plane_data(0).ok()?;
    let is_whole = width > 0 && height > 0 && width <= stride && rows.len() >= (height - 1) * stride + width;
    is_whole.then(|| Glance::of_luma(width, height, |x, y| rows[y * stride + x]))
}

fn has_luma_plane(format: gst_video::VideoFormat) -> bool {
    use gst_video::VideoFormat as F;
    matches!(
        format,
        F::I420 | F::Yv12 | F::Nv12 | F::Nv21 | F::Y41b | F::Y42b | F::Y444 | F::Nv16 | F::Nv61 | F::Nv24 | F::Gray8
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of stripes: dark on the left, light on the right.
    fn stripes(format: gst_video::VideoFormat) -> gst::Sample {
        gst::init().expect("GStreamer starts");
        let rgb = gst_video::VideoInfo::builder(gst_video::VideoFormat::Rgb, 30, 16).build().expect("a format");
        let info = gst_video::VideoInfo::builder(format, 30, 16).build().expect("a format");
        let buffer = |info: &gst_video::VideoInfo| gst::Buffer::with_size(info.size()).expect("memory");
        let mut source = buffer(&rgb);
        let stride = rgb.stride()[0] as usize;
        let bytes: Vec<u8> = (0..rgb.size()).map(|i| if i % stride < stride / 2 { 20 } else { 220 }).collect();
        source.get_mut().expect("unshared").copy_from_slice(0, &bytes).expect("fits");
        let mut target = buffer(&info);
        {
            let source = gst_video::VideoFrameRef::from_buffer_ref_readable(&source, &rgb).expect("maps");
            let target = target.get_mut().expect("unshared");
            let mut target = gst_video::VideoFrameRef::from_buffer_ref_writable(target, &info).expect("maps");
            gst_video::VideoConverter::new(&rgb, &info, None).expect("converts").frame_ref(&source, &mut target);
        }
        gst::Sample::builder().buffer(&target).caps(&info.to_caps().expect("caps")).build()
    }

    #[test]
    fn every_format_is_seen_alike() {
        use gst_video::VideoFormat as F;
        let dark = |glance: &Glance| sight_of(glance, |x| x < 0.4);
        let light = |glance: &Glance| sight_of(glance, |x| x > 0.6);
        for format in [F::I420, F::Nv12, F::Yv12, F::Y42b, F::Y444, F::Gray8, F::Rgb, F::Bgrx, F::Yuy2, F::I42010le] {
            let glance = glance(&stripes(format), &mut ToPicture::default()).expect("readable");
            assert!((10.0..50.0).contains(&dark(&glance)), "{format}: dark is {}", dark(&glance));
            assert!((185.0..230.0).contains(&light(&glance)), "{format}: light is {}", light(&glance));
        }
    }

    fn sight_of(glance: &Glance, is_wanted: impl Fn(f32) -> bool) -> f32 {
        let wanted: Vec<f32> = glance.columns().filter(|(x, _)| is_wanted(*x)).map(|(_, luma)| luma).collect();
        wanted.iter().sum::<f32>() / wanted.len() as f32
    }

    #[test]
    fn what_cannot_be_read_gives_nothing() {
        gst::init().expect("GStreamer starts");
        let sample = gst::Sample::builder().build();
        assert!(glance(&sample, &mut ToPicture::default()).is_none());
    }
}
