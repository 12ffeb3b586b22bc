/** The style of the page of the report. */
export const reportStyle = `
:root { color-scheme: light dark; --wrong: light-dark(#a3161f, #ff9b9b); --added: light-dark(#1a5c2e, #8fdca4);
  --line: light-dark(#8a8a8a, #8a8a8a); }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; background: light-dark(#fff, #16181c);
  color: light-dark(#16181c, #eceef1); }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
h3 { margin-bottom: 0; }
h4 { margin: 0.5rem 0 0; }
p { margin: 0.25rem 0; }
audio { width: 100%; max-width: 40rem; }
.recording { border-top: 1px solid var(--line); padding: 0.5rem 0; }
.aligned { line-height: 2.2; }
.aligned button { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: 0.25rem; padding: 0.1rem 0.35rem; min-height: 1.6rem; cursor: pointer; }
.aligned button:focus-visible { outline: 3px solid currentColor; outline-offset: 1px; }
.aligned button[aria-pressed="true"] { border-width: 2px; border-color: currentColor; }
del { color: var(--wrong); }
ins { color: var(--added); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

/**
 * The script of the page: plays the part of the sound that belongs to a difference, with a little
 * sound around it, and hides recordings without errors.
 */
export const reportScript = `
"use strict";
const aroundSeconds = 0.3;
let playing;
function stop() {
  if (!playing) return;
  playing.sound.pause();
  playing.button.setAttribute("aria-pressed", "false");
  cancelAnimationFrame(playing.frame);
  playing = undefined;
}
function watch() {
  if (!playing) return;
  const { sound, endSeconds } = playing;
  if (sound.currentTime >= endSeconds || sound.ended) stop();
  else playing.frame = requestAnimationFrame(watch);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-sound]");
  if (!button) return;
  const isSame = playing && playing.button === button;
  stop();
  if (isSame) return;
  const sound = document.getElementById(button.dataset.sound);
  for (const other of document.querySelectorAll("audio")) if (other !== sound) other.pause();
  sound.currentTime = Math.max(0, Number(button.dataset.start) - aroundSeconds);
  playing = { sound, button, endSeconds: Number(button.dataset.end) + aroundSeconds, frame: 0 };
  button.setAttribute("aria-pressed", "true");
  sound.play().then(watch, stop);
});
const onlyErrors = document.getElementById("only-errors");
onlyErrors.addEventListener("change", () => {
  for (const recording of document.querySelectorAll(".recording")) {
    recording.hidden = onlyErrors.checked && recording.dataset.errors === "0";
  }
});
`;
