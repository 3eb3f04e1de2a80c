#!/usr/bin/python3
"""A live camera for tests and the demo: an RTSP server on the loopback.

Plays a test pattern or, in an endless loop at its own pace, a clip. Prints the address on one line of standard output
once a client can connect, and serves until it is killed.

    /usr/bin/python3 tests/common/rtsp_server.py --pattern ball --size 320x240 --fps 10
    /usr/bin/python3 tests/common/rtsp_server.py --file .cache/clips/bikes.mp4 --fps 15
    /usr/bin/python3 tests/common/rtsp_server.py --pattern smpte --user cam --password 'p@ss/w:rd' --digest
    /usr/bin/python3 tests/common/rtsp_server.py --pattern smpte --tls certificate-and-key.pem --lose 20

Needs (Debian 12, 1.22): python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-{base,good,bad,ugly} gstreamer1.0-libav
"""

import argparse
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

# Pictures cross from the looping clip to the clients' encoder through this named channel, so that a loop of the clip
# is no discontinuity for a client and several clients see the same camera.
CHANNEL = "camera"

ENCODERS = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast key-int-max={gop} bitrate=2000 threads=1"
    " ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1",
    "h265": "x265enc tune=zerolatency speed-preset=ultrafast key-int-max={gop} bitrate=2000"
    " ! h265parse ! rtph265pay name=pay0 pt=96 config-interval=1",
    # Key pictures that lean on the group before them, and pictures in another order than they are shown in.
    "h264-open": "x264enc speed-preset=ultrafast key-int-max={gop} bframes=2 b-adapt=false"
    " option-string=open-gop=1:scenecut=0:rc-lookahead=0:sync-lookahead=0 threads=1"
    " ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1",
    # No key picture but the first: a column of each picture is coded by itself, another one each time.
    "h264-refresh": "x264enc tune=zerolatency speed-preset=ultrafast key-int-max={gop} intra-refresh=true bitrate=2000"
    " threads=1 ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1",
    "jpeg": "jpegenc quality=90 ! rtpjpegpay name=pay0 pt=26",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--file", help="clip to play in an endless loop")
    what.add_argument("--pattern", help="pattern of videotestsrc: ball, smpte, red, ...")
    parser.add_argument("--size", default="640x360", help="WIDTHxHEIGHT of the stream, even numbers (default %(default)s)")
    parser.add_argument("--fps", type=int, default=15, help="frames a second (default %(default)s)")
    parser.add_argument("--codec", choices=sorted(ENCODERS), default="h264")
    parser.add_argument("--gop", type=int, help="pictures from one key picture to the next (default: one second)")
    parser.add_argument("--user", help="ask for this user name (basic authentication)")
    parser.add_argument("--password", help="and this password")
    parser.add_argument("--digest", action="store_true", help="ask by digest authentication instead")
    parser.add_argument("--tls", metavar="PEM", help="speak TLS with this certificate and key")
    parser.add_argument("--lose", type=int, metavar="N", help="lose every N-th packet")
    parser.add_argument("--port", default="0", help="0, the default, lets the system choose")
    args = parser.parse_args()
    if bool(args.user) != bool(args.password):
        parser.error("--user and --password go together")
    return args


def die(text):
    print(text, file=sys.stderr, flush=True)
    sys.exit(1)


class Clip:
    """Decodes a file at its own pace into the channel, for ever."""

    def __init__(self, path, on_first_frame):
        self.pipeline = Gst.parse_launch(
            "filesrc name=source ! decodebin name=decoder videoconvert name=convert ! clocksync name=pace"
            f" ! intervideosink channel={CHANNEL} sync=false"
        )
        self.pipeline.get_by_name("decoder").connect("pad-added", self.link_video)
        # A property, not part of the description: a path may hold anything.
        self.pipeline.get_by_name("source").set_property("location", path)
        self.on_first_frame = on_first_frame
        pad = self.pipeline.get_by_name("pace").get_static_pad("src")
        self.probe = pad.add_probe(Gst.PadProbeType.BUFFER, self.saw_frame)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::eos", self.rewind)
        bus.connect("message::error", lambda _bus, message: die(f"{path}: {message.parse_error()[0].message}"))
        self.pipeline.set_state(Gst.State.PLAYING)

    def link_video(self, _decoder, pad):
        sink = self.pipeline.get_by_name("convert").get_static_pad("sink")
        if pad.get_current_caps().get_structure(0).get_name() == "video/x-raw" and not sink.is_linked():
            pad.link(sink)

    def saw_frame(self, _pad, _info):
        GLib.idle_add(self.on_first_frame)
        return Gst.PadProbeReturn.REMOVE

    def rewind(self, _bus, _message):
        if not self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT, 0):
            self.pipeline.set_state(Gst.State.READY)
            self.pipeline.set_state(Gst.State.PLAYING)


def picture_source(args):
    width, height = (int(n) for n in args.size.split("x"))
    caps = f"video/x-raw,format=I420,width={width},height={height},framerate={args.fps}/1"
    if args.pattern:
        return f"videotestsrc is-live=true pattern={args.pattern} ! {caps}"
    # A timeout of 10 s bridges the rewind: without it the encoder would see black.
    return f"intervideosrc channel={CHANNEL} timeout=10000000000 ! videoconvert ! videoscale ! {caps}"


def build_server(args):
    server = GstRtspServer.RTSPServer.new()
    server.set_address("127.0.0.1")
    server.set_service(args.port)
    factory = GstRtspServer.RTSPMediaFactory.new()
    encoder = ENCODERS[args.codec].format(gop=args.gop or args.fps)
    factory.set_launch(f"( {picture_source(args)} ! {encoder} )")
    factory.set_shared(True)
    if args.user or args.tls:
        server.set_auth(authentication(args))
        permit_viewers(factory)
    if args.lose:
        factory.connect("media-configure", lambda _factory, media: lose_packets(media, args.lose))
    server.get_mount_points().add_factory("/live", factory)
    return server


def authentication(args):
    auth = GstRtspServer.RTSPAuth.new()
    if args.tls:
        auth.set_tls_certificate(Gio.TlsCertificate.new_from_file(args.tls))
    token = GstRtspServer.RTSPToken.new()
    token.set_string("media.factory.role", "viewer")
    if not args.user:
        auth.set_default_token(token)
    elif args.digest:
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        auth.add_digest(args.user, args.password, token)
    else:
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(args.user, args.password), token)
    return auth


def permit_viewers(factory):
    permissions = GstRtspServer.RTSPPermissions.new()
    permissions.add_permission_for_role("viewer", "media.factory.access", True)
    permissions.add_permission_for_role("viewer", "media.factory.construct", True)
    factory.set_permissions(permissions)


def lose_packets(media, every):
    """Drops packets, or lists of packets, on their way to the clients, and says so once."""
    passed = 0

    def pass_or_drop(_pad, _info):
        nonlocal passed
        passed += 1
        if passed % every:
            return Gst.PadProbeReturn.OK
        if passed == every:
            print("lost", flush=True)
        return Gst.PadProbeReturn.DROP

    pad = media.get_element().get_by_name("pay0").get_static_pad("src")
    pad.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST, pass_or_drop)


def main():
    args = arguments()
    Gst.init(None)
    server = build_server(args)
    if server.attach(None) == 0:
        die(f"cannot listen on port {args.port}")
    loop = GLib.MainLoop()
    # SIGTERM and Ctrl-C end the loop instead of leaving a Python traceback.
    for sign in (signal.SIGTERM, signal.SIGINT):
        GLib.unix_signal_add(GLib.PRIORITY_HIGH, sign, loop.quit)

    def ready():
        scheme = "rtsps" if args.tls else "rtsp"
        print(f"{scheme}://127.0.0.1:{server.get_bound_port()}/live", flush=True)
        return GLib.SOURCE_REMOVE

    clip = Clip(args.file, ready) if args.file else None
    if clip is None:
        GLib.idle_add(ready)
    loop.run()


if __name__ == "__main__":
    main()
