/** The targets that hostile playlists try to reach. */
export interface Secrets {
  /** The name of a recording next to the crafted file. */
  readonly neighbor: string;
  /** The absolute path of the same recording. */
  readonly absolute: string;
  /** A server of the test, which must not be called. */
  readonly canary: string;
}

/** Returns texts that ffmpeg would follow to other files and servers if it were allowed to. */
export function craftPlaylists({ neighbor, absolute, canary }: Secrets): Record<string, string> {
  const hls = (...lines: readonly string[]): string =>
    ["#EXTM3U", "#EXT-X-TARGETDURATION:3", ...lines, "#EXT-X-ENDLIST", ""].join("\n");
  return {
    "HLS of a neighbor": hls("#EXTINF:3,", neighbor),
    "HLS of a path": hls("#EXTINF:3,", `file://${absolute}`),
    "HLS of a server": hls("#EXTINF:3,", `${canary}/segment.ts`),
    "HLS with a key": hls(`#EXT-X-KEY:METHOD=AES-128,URI="${canary}/key"`, "#EXTINF:3,", neighbor),
    "HLS through another protocol": hls("#EXTINF:3,", `concat:${absolute}|${absolute}`),
    "HLS behind an empty ID3 tag": `ID3\x03\0\0\0\0\0\0${hls("#EXTINF:3,", neighbor)}`,
    "ffconcat of a neighbor": `ffconcat version 1.0\nfile ${neighbor}\n`,
    "ffconcat of a path": `ffconcat version 1.0\nfile ${absolute}\n`,
    "ffconcat behind a comment": `#\nffconcat version 1.0\nfile '${absolute}'\n`,
    "M3U of names": `${neighbor}\n${absolute}\n`,
    PLS: `[playlist]\nFile1=${absolute}\nNumberOfEntries=1\n`,
    "DASH MPD": `<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>${canary}/${neighbor}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    SDP: `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n`,
    "pattern of images": `P5\n${neighbor}%03d.png\n`,
    "shell script": `#!/bin/sh\ncat ${absolute}\n`,
  };
}
