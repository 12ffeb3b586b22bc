import { describeCall, type DescribedParameter, targetOf } from "./described-call.ts";
import { element } from "./element.ts";
import { sendCall } from "./send-call.ts";

/** The answer of /console/session (docs/console.md), as far as it is used here. */
interface SessionAnswer {
  readonly actor?: string;
  readonly displayName?: string;
  readonly account?: { readonly name: string; readonly displayName: string };
}

/**
 * Shows the form that calls an operation, at the end of its introduction. Returns the element,
 * which is filled once the session and the description are loaded.
 */
export function openPanel(operationId: string, summary: string, place: Element): HTMLElement {
  const panel = element("div", { className: "try-panel" }, element("p", {}, "Loading…"));
  (place.querySelector(".route") ?? place).after(panel);
  void fillPanel(panel, operationId, summary);
  return panel;
}

async function fillPanel(panel: HTMLElement, operationId: string, summary: string) {
  try {
    const [session, call] = await Promise.all([readSession(), describeCall(operationId)]);
    const { account, actor, displayName = "" } = session;
    if (account === undefined || actor === undefined) {
      const link = element("a", { href: "console/" }, "Sign in to the console");
      panel.replaceChildren(
        element("p", {}, link, ", then reload this page: requests are sent with your session."),
      );
      return;
    }
    const form = element("form", { ariaLabel: `Try it: ${summary}` });
    const idOf = (name: string): string => `try-${operationId}-${name}`;
    const inputs = new Map(
      call.parameters.map((parameter) => [
        parameter.name,
        inputOf(parameter, idOf(parameter.name), call.valuesOf(parameter.schema)),
      ]),
    );
    for (const { name, required = false } of call.parameters) {
      const input = inputs.get(name);
      if (input) form.append(fieldOf(name, input, required));
    }
    const body = call.body === undefined ? undefined : bodyInput(call.body, idOf("body"));
    if (body) form.append(fieldOf("Body", body, false));
    const isChange = call.method !== "GET";
    const note = `This sends a real request as ${displayName} in the account ${account.displayName}.${
      isChange ? " Its changes are permanent." : ""
    }`;
    const send = element("button", { type: "submit", className: "try-send" }, "Send");
    const result = element("div", { className: "try-result" });
    form.append(element("p", { className: "try-note" }, note), send);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = new Map(Array.from(inputs, ([name, input]) => [name, input.value.trim()]));
      const headers = call.parameters
        .filter(({ name, in: place }) => place === "header" && (values.get(name) ?? "") !== "")
        .map(({ name }): [string, string] => [name, values.get(name) ?? ""]);
      void sendCall(result, {
        method: call.method,
        target: targetOf(call, values),
        body: body?.value,
        headers: [...headers, ["x-hlust-console-for", `${account.name} ${actor}`]],
      });
    });
    panel.replaceChildren(form, result);
    panel.querySelector<HTMLElement>("input, select, textarea, button")?.focus();
  } catch {
    const again = element("button", { type: "button", className: "try-send" }, "Try again");
    again.addEventListener("click", () => {
      panel.replaceChildren(element("p", {}, "Loading…"));
      void fillPanel(panel, operationId, summary);
    });
    const problem = element("p", { role: "alert" }, "The service cannot be reached.");
    panel.replaceChildren(problem, again);
  }
}

async function readSession(): Promise<SessionAnswer> {
  const response = await fetch("console/session", { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`the session: ${response.status}`);
  return await response.json();
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function inputOf(
  { in: place, required = false }: DescribedParameter,
  id: string,
  values: readonly string[],
): Field {
  const isRequired = required || place === "path";
  if (values.length === 0) {
    return element("input", { id, type: "text", required: isRequired, autocomplete: "off" });
  }
  const options = values.map((value) => element("option", { value }, value));
  const none = element("option", { value: "" }, "not set");
  return element("select", { id, required: isRequired }, none, ...options);
}

function bodyInput(example: unknown, id: string): HTMLTextAreaElement {
  const value = JSON.stringify(example, undefined, 2);
  const rows = Math.min(16, value.split("\n").length + 1);
  return element("textarea", { id, value, rows, spellcheck: false });
}

function fieldOf(name: string, input: Field, required: boolean): HTMLElement {
  const label = element("label", { htmlFor: input.id }, name);
  if (required) label.append(" ", element("small", {}, "required"));
  return element("p", { className: "try-field" }, label, input);
}
