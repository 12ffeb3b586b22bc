import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOfFile, kindOfUrl } from "./media-kind.ts";
import { subjectOfName, subjectOfUrl } from "./subject-of.ts";

test("kindOfFile() decides by the file name, then by the media type", () => {
  const rows = [
    ["fundur.mp3", "", "AUDIO"],
    ["Fundur.WAV", "text/plain", "AUDIO"],
    ["fundur.mp4", "audio/mp4", "VIDEO"],
    ["fundur", "video/webm", "VIDEO"],
    ["fundur", "audio/x-unknown", "AUDIO"],
    ["fundur.xyz", "", "UNKNOWN"],
    ["fundur.bin", "application/octet-stream", "UNKNOWN"],
    ["síða.html", "text/html", "OTHER"],
    ["mynd.svg", "image/svg+xml", "OTHER"],
    ["skjal.pdf", "application/pdf", "OTHER"],
  ] as const;
  for (const [name, type, kind] of rows) assert.equal(kindOfFile({ name, type }), kind, name);
});

test("kindOfUrl() decides by the path", () => {
  assert.equal(kindOfUrl("https://ruv.is/þáttur.mp4?token=a.mp3"), "VIDEO");
  assert.equal(kindOfUrl("https://ruv.is/þáttur"), "UNKNOWN");
  assert.equal(kindOfUrl("https://"), "UNKNOWN");
});

test("subjectOfName() and subjectOfUrl() make titles from file names and URLs", () => {
  const names = [
    ["viðtal_við_Þórð.wav", "viðtal við Þórð"],
    ["20. fundur fjárlaganefndar.mp3", "20. fundur fjárlaganefndar"],
    ["sr. Ævar_Örn.m4a", "sr. Ævar_Örn"],
    ["þa\u0301ttur.ogg", "þáttur"],
    [".mp3", ""],
    ["fundur", "fundur"],
  ] as const;
  for (const [name, subject] of names) assert.equal(subjectOfName(name), subject);
  const urls = [
    ["https://ruv.is/a/%C3%BE%C3%A1ttur_1.mp3?x=y#z", "þáttur 1"],
    ["https://ruv.is/100%.mp3", "100%"],
    ["https://ruv.is/", "ruv.is"],
    ["ekki slóð", ""],
  ] as const;
  for (const [url, subject] of urls) assert.equal(subjectOfUrl(url), subject);
});
