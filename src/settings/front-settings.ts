import { whole, type Setting } from "../std/setting.ts";

export const frontSettings = {
  frontProcesses: {
    name: "HLUST_FRONT_PROCESSES",
    meaning:
      "Processes that share the port, 1 to 64. With 1, the main process serves the port itself",
    fallback: "1",
    parse: (text, name) => whole(text ?? "1", name, 1, 64),
  },
} satisfies Record<string, Setting<number>>;
