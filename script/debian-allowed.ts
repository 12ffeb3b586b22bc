// The licenses that packages of Debian in the container image may have, with the reasons.

/** Names that SPDX does not have, by source package: each allows all use if its notice is kept. */
const ownNotices: Readonly<Record<string, string>> = {
  bash: "Latex2e MIT-like permissive",
  bzip2: "BSD-variant",
  codec2: "JMVBSD",
  "db5.3": "MIT-old TCL-like",
  dbus: "FSF-unlimited-permission Tcl-BSDish autoconf-archive-permissive g10-permissive",
  e2fsprogs: "Kazlib Latex2e MIT-US-export",
  ffmpeg: "Sundry man-page",
  flite: "CMU Mummert Spencer SunPro",
  freetype: "OpenGroup-BSD-like",
  "gcc-12": "SunPro",
  "glib2.0": "Iconv-PD Janik-permissive Kuchling-PD Mingw-PD Old-GLib-Tests-permissive Plumb-PD",
  glibc: "CMU DEC Inner-Net SunPro",
  gnupg2: "TinySCHEME permissive",
  gzip: "FSF-manpages",
  harfbuzz: "Monotype UFL-1.0 Unicode",
  krb5: "Chicago Gladman NRL OpenVision UMich USC g10-permissive",
  libass: "other-1",
  libbluray: "custom",
  libbs2b: "FSF-unlimited MIT-FSF-public",
  libbsd: "BSD-4-clause-Niels-Provos libutil-David-Nugent",
  libgcrypt20: "OCB",
  "libgpg-error": "g10-permissive",
  libidn2: "Unicode",
  "libjpeg-turbo": "BSD-BY-LC-NE",
  libmd: "BSD-3-clause-Aaron-D-Gifford",
  libmysofa: "cipic listen-ircam mit-kemar",
  libogg: "rfc3533-license rfc5334-license",
  libopenmpt: "GNU-All-Permissive-License GNU-All-Permissive-License-FSF",
  "libpng1.6": "BSD-like-with-advertising-clause",
  librabbitmq: "BSD-Author",
  librsvg: "CC-zero-waive-1.0-us Sun-permissive",
  libsdl2:
    "BrownUn-UnCalifornia-ErikCorry Expat-like Gareth-McCaughan MIT-open-group " +
    "Mozilla-permissive PublicDomain-David-Ludwig PublicDomain-Edgar-Simo " +
    "PublicDomain-Sam-Lantinga RSA-Data-Security SunPro hidapi-orig " +
    "zlib-libpng-like-permissive",
  libsndfile: "gsm sun",
  libsoxr: "Spherepack permissive1 permissive2",
  libunistring: "FreeSoftware",
  libva: "Expat-advertising other",
  libvdpau: "other",
  libvorbis: "RFC-special",
  libx11: "TekHVC",
  mesa: "Khronos MLAA",
  nettle: "GAP",
  norm: "NRL-2-clause NRL-3-clause",
  openjpeg2: "LIBTIFF-GLARSON LIBTIFF-PIXAR",
  "p11-kit": "ISC-IBM permissive-like-automake-output same-as-rest-of-p11kit",
  pam: "BSD-tcp-wrappers",
  "pango1.0": "Example Unicode",
  perl:
    "Artistic-dist BSD-3-clause-with-weird-numbering BSD-4-clause-POWERDOG BZIP HSIEH-BSD " +
    "HSIEH-DERIVATIVE REGCOMP RRA-KEEP-THIS-NOTICE SDBM-PUBLIC-DOMAIN TEXT-TABS Unicode",
  pulseaudio: "other",
  rubberband: "other-1",
  sed: "pcre",
  sndio: "ISC-packaging",
  speex: "custom-1",
  sphinxbase: "BSD-2-clause-beyond BSD-3-clause-carnegie lucent u-o-tennesee",
  tiff: "Hylafax",
  "util-linux": "BSLA",
  "xkeyboard-config": "notice",
  "xz-utils": "PD-debian none permissive-fsf permissive-nowarranty probably-PD",
};

interface Group {
  /** Why the image may have what is under these licenses. */
  readonly reason: string;
  readonly licenses: string;
}

/** Add a license to a group only after reading it. */
const groups: readonly Group[] = [
  {
    reason:
      "They allow use, change and distribution with a notice, which the image has in " +
      "/usr/share/doc.",
    licenses:
      "0BSD Apache-2.0 BSD-1-Clause BSD-2-Clause BSD-3-Clause BSD-3-Clause-Clear BSD-4-Clause " +
      "BSD-4-Clause-UC BSL-1.0 Beerware Bitstream-Vera CC-BY-3.0 CC-BY-4.0 CC0-1.0 FSFAP FSFUL " +
      "FSFULLR FTL HPND HPND-export-US HPND-export-US-modify HPND-sell-variant ICU IJG ISC Latex2e " +
      "Libpng MIT MIT-open-group NCSA NTP OFL-1.1 " +
      "OLDAP-2.8 RSA-MD SGI-B-2.0 TCL TU-Berlin-2.0 Unicode-DFS-2016 Unlicense WTFPL X11 Zlib " +
      "bzip2-1.0.6 libtiff LicenseRef-public-domain",
  },
  {
    reason:
      "Programs that run as processes of their own (ffmpeg, bubblewrap, the shell), and the " +
      "libraries that only they load. The image has them next to the service, which is not a " +
      "work based on them. Debian's archive has their sources (docs/releasing.md, Sources).",
    licenses:
      "GPL-1.0-only GPL-1.0-or-later GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later " +
      "Sleepycat LicenseRef-debianutils-SMAIL-GPL LicenseRef-xz-utils-Autoconf " +
      "LicenseRef-xz-utils-config-h",
  },
  {
    reason:
      "Libraries that a program loads when it starts, and that everyone can exchange. GCC's " +
      "exception is for programs that it has compiled: they may have any license.",
    licenses:
      "LGPL-2.0-only LGPL-2.0-or-later LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only " +
      "LGPL-3.0-or-later GPL-3.0-or-later WITH GCC-exception-3.1",
  },
  {
    reason: "They bind only the files that they cover, which nothing here changes.",
    licenses:
      "AFL-2.0 AFL-2.1 Artistic-1.0-Perl Artistic-2.0 CC-BY-SA-3.0 MPL-1.0 MPL-1.1 MPL-2.0 MS-PL",
  },
  {
    reason: "Manuals of the sources, which the image does not have.",
    licenses:
      "GFDL-1.1-or-later GFDL-1.2-no-invariants-or-later GFDL-1.2-only GFDL-1.2-or-later " +
      "GFDL-1.3-no-invariants-only GFDL-1.3-no-invariants-or-later GFDL-1.3-or-later",
  },
  {
    reason: "Texts that must not be changed, and that the image has unchanged or not at all.",
    licenses:
      "LicenseRef-gnupg2-RFC-Reference LicenseRef-perl-DONT-CHANGE-THE-GPL " +
      "LicenseRef-xz-utils-noderivs",
  },
];

/** The SPDX names of all licenses that packages of Debian may have. */
export const allowedOfDebian: ReadonlySet<string> = new Set([
  ...groups.flatMap(({ licenses }) => licenses.split(/ (?!WITH )(?<!WITH )/)),
  ...Object.entries(ownNotices).flatMap(([source, names]) =>
    names.split(" ").map((name) => `LicenseRef-${source}-${name}`),
  ),
]);
