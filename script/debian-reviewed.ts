// Files /usr/share/doc/PACKAGE/copyright that machines cannot read, and what we read in them.

/** A file that was read: of which source package of Debian, its license, and the reason for it. */
export interface ReviewedCopyright {
  readonly source: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly reason: string;
}

/** By the fingerprint of the file (script/debian-license.ts). A file that changes is read again. */
export const reviewedCopyrights: ReadonlyMap<string, ReviewedCopyright> = new Map(
  Object.entries({
    fd7e4aae7e7b05f2: {
      source: "base-files",
      license: "GPL-2.0-or-later",
      reason: "GNU GPL, version 2 or later",
    },
    "408fb9e704e875cd": {
      source: "cairo",
      license: "(LGPL-2.1-only OR MPL-1.1) AND HPND-sell-variant",
      reason: "either of two licenses; its tests have a notice",
    },
    b32aecaae8464370: {
      source: "debian-archive-keyring",
      license: "GPL-2.0-or-later AND LicenseRef-public-domain",
      reason: "the keys have no copyright",
    },
    "77d13a5e6cbe7277": {
      source: "flite",
      license:
        "LicenseRef-flite-CMU AND BSD-2-Clause AND HPND-sell-variant AND " +
        "LicenseRef-flite-Mummert AND LicenseRef-flite-Spencer AND LicenseRef-flite-SunPro AND " +
        "Latex2e AND GPL-2.0-only AND GPL-3.0-only AND LicenseRef-public-domain",
      reason: "the library has notices; GPL is for files that build it, and for Debian's own",
    },
    b215a61cdd3e62b5: {
      source: "fontconfig",
      license: "HPND-sell-variant",
      reason: "a notice of Keith Packard",
    },
    da8191658b3452ce: {
      source: "gcc-12",
      license:
        "GPL-3.0-or-later WITH GCC-exception-3.1 AND LGPL-2.0-or-later AND " +
        "LGPL-2.1-or-later AND BSD-3-Clause AND MIT AND NCSA AND LicenseRef-gcc-12-SunPro AND " +
        "LicenseRef-public-domain",
      reason: "of the libraries for programs; the compiler is not in the package",
    },
    "40c7e1f2118531f0": {
      source: "glibc",
      license:
        "LGPL-2.1-or-later AND GPL-2.0-or-later AND BSD-3-Clause AND ISC AND HPND AND " +
        "LicenseRef-glibc-Inner-Net AND LicenseRef-glibc-DEC AND LicenseRef-glibc-CMU AND " +
        "LicenseRef-glibc-SunPro",
      reason: "GPL is for programs of the package",
    },
    bb7e5c24b3e27bbb: {
      source: "gnutls28",
      license:
        "LGPL-2.1-or-later AND (LGPL-3.0-or-later OR GPL-2.0-or-later) AND " +
        "GPL-3.0-or-later AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0 AND " +
        "ISC AND MIT AND GFDL-1.3-no-invariants-or-later AND LicenseRef-public-domain",
      reason: "GPL 3 is for its programs, GFDL for its manual",
    },
    "936728f4181718f4": {
      source: "krb5",
      license:
        "MIT AND BSD-2-Clause AND BSD-3-Clause AND BSD-4-Clause AND HPND AND " +
        "HPND-export-US AND HPND-export-US-modify AND ISC AND OLDAP-2.8 AND RSA-MD AND " +
        "LicenseRef-krb5-Chicago AND LicenseRef-krb5-Gladman AND LicenseRef-krb5-NRL AND " +
        "LicenseRef-krb5-OpenVision AND LicenseRef-krb5-UMich AND LicenseRef-krb5-USC AND " +
        "LicenseRef-krb5-g10-permissive AND CC-BY-SA-3.0",
      reason: "notices, one of them instead of GPL; CC is for the manual",
    },
    a34c862fcbc280fe: {
      source: "libcdio-paranoia",
      license: "GPL-3.0-or-later AND GFDL-1.2-no-invariants-or-later",
      reason: "the manual is not in the package",
    },
    d73eb1d7faf6c89d: {
      source: "libdc1394",
      license: "LGPL-2.1-or-later AND GPL-2.0-or-later",
      reason: "GPL is for an example",
    },
    "512c9a57fd8b449a": {
      source: "libdrm",
      license: "MIT",
      reason: "one text with several names",
    },
    "95db2f9da663f2bf": {
      source: "libgcrypt20",
      license:
        "LGPL-2.1-or-later AND GPL-2.0-or-later AND BSD-3-Clause AND X11 AND " +
        "LicenseRef-libgcrypt20-OCB AND LicenseRef-public-domain",
      reason: "GPL is for tools and manual; a grant of patents",
    },
    "21c424a37984ea0f": {
      source: "libiec61883",
      license: "LGPL-2.1-or-later",
      reason: "GNU LGPL, version 2.1 or later",
    },
    "8179158680353631": {
      source: "libraw1394",
      license: "LGPL-2.1-or-later AND GPL-2.0-or-later AND MIT",
      reason: "GPL is for files that build it",
    },
    "641806738b0c6a3d": {
      source: "libselinux",
      license: "LicenseRef-public-domain AND GPL-2.0-only AND LGPL-2.1-or-later",
      reason: "GPL is for a program and Debian's own files",
    },
    e00e6a86c598f9e2: {
      source: "libsemanage",
      license: "LGPL-2.1-or-later AND GPL-2.0-only",
      reason: "GPL is for Debian's own files",
    },
    "572ad60ad184d8f5": {
      source: "libtasn1-6",
      license: "LGPL-2.1-or-later AND GPL-3.0-or-later AND GFDL-1.3-no-invariants-or-later",
      reason: "GPL is for programs, GFDL for the manual",
    },
    "22184ce520ea729f": {
      source: "libusb-1.0",
      license: "LGPL-2.1-or-later AND GPL-2.0-or-later",
      reason: "GPL is for two examples",
    },
    "01eb328708a94540": {
      source: "libwebp",
      license: "BSD-3-Clause AND Apache-2.0",
      reason: "Apache-2.0 is for Debian's own files",
    },
    "0b380a7fd5b2228f": {
      source: "libx11",
      license:
        "MIT AND MIT-open-group AND X11 AND HPND AND HPND-sell-variant AND BSD-1-Clause AND " +
        "LicenseRef-libx11-TekHVC",
      reason: "notices of many contributors",
    },
    "118dd263a7b91c8f": {
      source: "libxau",
      license: "MIT-open-group",
      reason: "a notice of The Open Group",
    },
    "4f7cb9db6bf6542f": {
      source: "libxcb",
      license: "X11",
      reason: "MIT with a sentence about names",
    },
    "5a5e7ca0e9f3f967": {
      source: "libxcrypt",
      license:
        "LGPL-2.1-or-later AND BSD-2-Clause AND BSD-3-Clause AND 0BSD AND FSFAP AND " +
        "GPL-2.0-or-later AND GPL-3.0-or-later AND LicenseRef-public-domain",
      reason: "a list of all files in the package's own words; GPL is for files that build it",
    },
    "817abc0ccc9e2591": {
      source: "libxcursor",
      license: "HPND-sell-variant",
      reason: "a notice of Keith Packard",
    },
    "1bcbb50f8603fe8b": {
      source: "libxdmcp",
      license: "MIT-open-group",
      reason: "a notice of The Open Group",
    },
    bc57e445ca1d9fe0: {
      source: "libxext",
      license: "MIT AND MIT-open-group AND X11 AND HPND AND HPND-sell-variant",
      reason: "notices of many contributors",
    },
    "051ffe073ab38244": {
      source: "libxfixes",
      license: "MIT AND HPND-sell-variant",
      reason: "notices of two authors",
    },
    c812f9c54513ae59: {
      source: "libxi",
      license: "MIT AND MIT-open-group AND HPND",
      reason: "notices of four authors",
    },
    "5eeaeb1b6e029a02": {
      source: "libxkbcommon",
      license: "X11 AND HPND",
      reason: "notices of four authors, one of them MIT with a sentence about names",
    },
    "6d8e6239cfe9dd25": {
      source: "libxrandr",
      license: "HPND-sell-variant",
      reason: "notices of three authors",
    },
    ed2a78123a5076b4: {
      source: "libxrender",
      license: "HPND-sell-variant",
      reason: "notices of two authors",
    },
    "6a76b32c9174c0cb": {
      source: "libxshmfence",
      license: "HPND-sell-variant",
      reason: "a notice of Keith Packard",
    },
    "3ebbe713ac6980ae": {
      source: "libxss",
      license: "X11",
      reason: "MIT with a sentence about names",
    },
    "2fe7ac649db26ec1": {
      source: "libxv",
      license: "HPND AND HPND-sell-variant",
      reason: "notices of two authors",
    },
    "8a18884e1be08a37": {
      source: "libxxf86vm",
      license: "X11",
      reason: "MIT with a sentence about names",
    },
    "179c34f5e56cd0b6": {
      source: "numactl",
      license: "LGPL-2.1-only AND GPL-2.0-only",
      reason: "GPL is for programs that are not in the package",
    },
    "1b3fb5690861e15c": {
      source: "pixman",
      license: "MIT",
      reason: "one text with many names",
    },
    "5145b47d997486e5": {
      source: "shared-mime-info",
      license: "GPL-2.0-or-later",
      reason: "GNU GPL, version 2 or later",
    },
    "736bf54141fa9808": {
      source: "wayland",
      license: "MIT",
      reason: "one text with several names",
    },
    "648621d1a2180678": {
      source: "xkeyboard-config",
      license:
        "MIT-open-group AND ICU AND X11 AND HPND AND HPND-sell-variant AND " +
        "LicenseRef-xkeyboard-config-notice",
      reason: "notices of many authors of layouts",
    },
    "2badb73e6e70d0bd": {
      source: "xorg",
      license: "X11 AND MIT AND GPL-2.0-or-later",
      reason: "GPL is for Debian's own files",
    },
  }),
);
