import { chromium, type Browser } from "playwright-core";

/**
 * What a browser does for people beside its page. Its address bar is a page of its own now, which each window makes anew with more CPU
 * than a page of ours; a process is made ready for a page that may come; and http may be tried as https.
 */
const unwanted = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "PreloadTopChromeWebUI",
  "WebUIReloadButton",
  "InitialWebUI",
  "SpareRendererForSitePerProcess",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "MediaRouter",
  "OptimizationHints",
  "PaintHolding",
  "DestroyProfileOnBrowserClose",
];

/** Debian's Chromium, without a screen; `args` are more of its own. */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  return await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      `--disable-features=${unwanted.join(",")}`,
      ...args,
    ],
  });
}
