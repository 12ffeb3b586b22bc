import { configFileSetting, GivenSettings } from "./given-settings.ts";
import { settingGroups } from "./setting-groups.ts";

/**
 * Returns each setting with its value, meaning and default, for `hlust config`. Secrets are not
 * shown. The values are not checked.
 */
export function describeSettings(environment: NodeJS.ProcessEnv): string {
  const given = new GivenSettings(environment, settingGroups);
  return [configFileSetting, ...Object.values(settingGroups).flat()]
    .map((setting) => {
      const { name, meaning, fallback, secret = false } = setting;
      const { text, place } = given.find(setting);
      const shown = secret ? "(set)" : text;
      const notes = [
        ...(secret ? [] : [`default: ${fallback}`]),
        ...(place === undefined ? [] : [`from ${place}`]),
      ];
      const note = notes.length > 0 ? `   (${notes.join("; ")})` : "";
      return `${name}\n    ${meaning}\n    ${text === "" ? `default: ${fallback}` : `${shown}${note}`}\n`;
    })
    .join("");
}
