//! From a decoded sample to tight RGB8: the only place that knows of strides and pixel formats.

use gstreamer as gst;
use gstreamer_video as gst_video;
use gstreamer_video::prelude::*;

use crate::domain::Picture;

/// More pixels than any camera has; what claims to have more is damaged or hostile.
const MAX_PIXELS: u64 = 100_000_000;

/// Converts samples, keeping the conversion tables of the last format.
#[derive(Default)]
pub(super) struct ToPicture {
    plan: Option<(gst_video::VideoInfo, gst_video::VideoConverter, gst_video::VideoInfo)>,
}

impl ToPicture {
    /// Maps the sample, converts it, and copies the rows without their padding.
    pub(super) fn convert(&mut self, sample: &gst::Sample) -> Result<Picture, String> {
        let caps = sample.caps().ok_or("the picture has no format")?;
        let buffer = sample.buffer().ok_or("the picture has no data")?;
        let info = gst_video::VideoInfo::from_caps(caps).map_err(|_| format!("unknown picture format {caps}"))?;
        let pixels = u64::from(info.width()) * u64::from(info.height());
        if pixels > MAX_PIXELS {
            return Err(format!("a picture of {}x{} is too large", info.width(), info.height()));
        }
        let (converter, target) = self.plan_for(info.clone())?;
        let source = gst_video::VideoFrameRef::from_buffer_ref_readable(buffer, &info)
            .map_err(|_| "the picture's memory cannot be read".to_owned())?;
        let mut out = gst::Buffer::with_size(target.size()).map_err(|_| "out of memory".to_owned())?;
        {
            let out = out.get_mut().ok_or("the new buffer is shared")?;
            let mut out = gst_video::VideoFrameRef::from_buffer_ref_writable(out, target)
                .map_err(|_| "the new buffer cannot be written".to_owned())?;
            converter.frame_ref(&source, &mut out);
        }
        tight(&out, target)
    }

    fn plan_for(
        &mut self,
        info: gst_video::VideoInfo,
    ) -> Result<(&gst_video::VideoConverter, &gst_video::VideoInfo), String> {
        if self.plan.as_ref().is_none_or(|(source, ..)| *source != info) {
            let target = gst_video::VideoInfo::builder(gst_video::VideoFormat::Rgb, info.width(), info.height())
                // The converter refuses to change these.
                .interlace_mode(info.interlace_mode())
                .fps(info.fps())
                .build()
                .map_err(|error| error.to_string())?;
            let converter = gst_video::VideoConverter::new(&info, &target, None)
                .map_err(|_| format!("{} cannot be converted to RGB", info.format()))?;
            self.plan = Some((info, converter, target));
        }
        let (_, converter, target) = self.plan.as_ref().ok_or("no conversion was planned")?;
        Ok((converter, target))
    }
}

/// Copies the rows of an RGB buffer without what pads them to four bytes.
fn tight(buffer: &gst::Buffer, info: &gst_video::VideoInfo) -> Result<Picture, String> {
    let frame = gst_video::VideoFrameRef::from_buffer_ref_readable(buffer, info)
        .map_err(|_| "the converted picture cannot be read".to_owned())?;
    let stride = usize::try_from(frame.plane_stride()[0]).map_err(|_| "a negative stride".to_owned())?;
    let row = 3 * info.width() as usize;
    let data = frame.plane_data(0).map_err(|error| error.to_string())?;
    let rgb = if stride == row {
        data[..row * info.height() as usize].to_vec()
    } else {
        data.chunks(stride).take(info.height() as usize).flat_map(|padded| &padded[..row]).copied().collect()
    };
    Picture::new(info.width(), info.height(), rgb).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An RGB sample with padded rows whose pixels are a function of their place.
    fn padded_sample(width: u32, height: u32, padding: u32) -> gst::Sample {
        let stride = 3 * width + padding;
        let info = gst_video::VideoInfo::builder(gst_video::VideoFormat::Rgb, width, height)
            .build()
            .expect("a small picture has a format");
        let mut bytes = vec![0xEE; (stride * height) as usize];
        for (y, row) in bytes.chunks_mut(stride as usize).enumerate() {
            for x in 0..width as usize {
                row[3 * x..3 * x + 3].copy_from_slice(&pixel(x, y));
            }
        }
        let mut buffer = gst::Buffer::from_mut_slice(bytes);
        gst_video::VideoMeta::add_full(
            buffer.get_mut().expect("is not shared"),
            gst_video::VideoFrameFlags::empty(),
            gst_video::VideoFormat::Rgb,
            width,
            height,
            &[0],
            &[stride as i32],
        )
        .expect("the layout fits the buffer");
        gst::Sample::builder().buffer(&buffer).caps(&info.to_caps().expect("has caps")).build()
    }

    fn pixel(x: usize, y: usize) -> [u8; 3] {
        [(x * 7 + y) as u8, (x + y * 13) as u8, (x ^ y) as u8]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_lose_their_padding_and_nothing_else(width in 1_u32..700, height in 1_u32..40, padding in 0_u32..33) {
            gst::init().expect("GStreamer starts");
            let picture = ToPicture::default().convert(&padded_sample(width, height, padding)).expect("converts");
            prop_assert_eq!((picture.width(), picture.height()), (width, height));
            for (n, got) in picture.rgb().chunks(3).enumerate() {
                prop_assert_eq!(got, pixel(n % width as usize, n / width as usize));
            }
        }
    }

    #[test]
    fn odd_sizes_and_changing_formats_convert() {
        gst::init().expect("GStreamer starts");
        let mut to_picture = ToPicture::default();
        for (width, height) in [(641, 273), (1, 1), (641, 273), (640, 272)] {
            let picture = to_picture.convert(&padded_sample(width, height, 5)).expect("converts");
            assert_eq!(picture.rgb().len(), (3 * width * height) as usize);
            let last = picture.rgb().chunks(3).last().expect("has pixels");
            assert_eq!(last, pixel(width as usize - 1, height as usize - 1));
        }
    }

    #[test]
    fn a_sample_without_picture_is_refused() {
        gst::init().expect("GStreamer starts");
        let mut to_picture = ToPicture::default();
        assert!(to_picture.convert(&gst::Sample::builder().build()).is_err());
        let short = gst::Sample::builder()
            .buffer(&gst::Buffer::from_slice([0_u8; 10]))
            .caps(&padded_sample(64, 64, 0).caps_owned().expect("has caps"))
            .build();
        assert!(to_picture.convert(&short).is_err());
    }
}
