// The script of the API reference (/docs): calls of each method with the session of the console.
// It is an entry of its own and imports nothing that the console's pages share, so that both stay
// small. The reference is in English, since the comments of the contract are.
import "./reference.css";
import { element } from "./element.ts";
import { openPanel } from "./panel.ts";

for (const section of document.querySelectorAll<HTMLElement>("section.operation[data-try]")) {
  const place = section.querySelector(".said");
  const heading = section.querySelector("h3");
  if (!place || !heading) continue;
  const button = element("button", { className: "try", type: "button" }, "Try it");
  button.setAttribute("aria-label", `Try it: ${heading.textContent}`);
  button.setAttribute("aria-expanded", "false");
  let panel: HTMLElement | undefined;
  button.addEventListener("click", () => {
    const isOpen = panel === undefined || panel.hidden;
    panel ??= openPanel(section.id, heading.textContent, place);
    panel.hidden = !isOpen;
    button.setAttribute("aria-expanded", `${isOpen}`);
  });
  heading.after(button);
}
