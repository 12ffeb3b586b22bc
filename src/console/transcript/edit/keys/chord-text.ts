import type { Chord } from "./chord.ts";

const shown: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  PageUp: "Page Up",
  PageDown: "Page Down",
  MediaPlayPause: "Media Play",
  MediaTrackNext: "Media Next",
  MediaTrackPrevious: "Media Previous",
};

/** Returns a chord as keyboards and manuals name it: "Alt + Shift + ↑". */
export function chordText(chord: Chord): string {
  return chord
    .split("+")
    .map((name) => shown[name] ?? name)
    .join(" + ");
}
