import { useState } from "react";
import { Choice } from "../parts/choice.tsx";
import { commonText } from "../text/common.ts";
import { type Language, useLanguage, useText } from "../text/language.tsx";
import { chosenTheme, showTheme, type Theme } from "../theme/theme.ts";
import "./appearance.css";

/** The controls for choosing the language and the theme. */
export function Appearance() {
  const t = useText();
  const { language, setLanguage } = useLanguage();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  return (
    <div className="appearance">
      <Choice<Language>
        label={t(commonText.language)}
        isLabelSeen={false}
        value={language}
        options={[
          { value: "is", text: "Íslenska" },
          { value: "en", text: "English" },
        ]}
        onChange={setLanguage}
      />
      <Choice<Theme>
        label={t(commonText.theme)}
        isLabelSeen={false}
        value={theme}
        options={[
          { value: "system", text: t(commonText.themeSystem) },
          { value: "light", text: t(commonText.themeLight) },
          { value: "dark", text: t(commonText.themeDark) },
        ]}
        onChange={(chosen) => {
          showTheme(chosen);
          setTheme(chosen);
        }}
      />
    </div>
  );
}
