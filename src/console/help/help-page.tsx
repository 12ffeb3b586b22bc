import { PageHead } from "../parts/page-head.tsx";
import { editKeysText } from "../text/edit-keys.ts";
import { helpText, helpTopics } from "../text/help.ts";
import { useText } from "../text/language.tsx";
import { chordText } from "../transcript/edit/keys/chord-text.ts";
import { type CommandId, keysOf } from "../transcript/edit/keys/command-table.ts";
import { activeKeys, type EditSettings } from "../transcript/edit/keys/settings.ts";
import { useEditSettings } from "../transcript/edit/keys/use-edit-settings.ts";
import { commandsOfTopic, type HelpTopicId } from "./topic-commands.ts";
import "./help-page.css";

/** How a transcript is corrected, at /console/help, with the user's own keys. */
export function HelpPage() {
  const t = useText();
  const { settings } = useEditSettings();
  const topics = Object.keys(helpTopics).filter(isTopic);
  return (
    <div className="help">
      <PageHead title={t(helpText.title)} sub={t(helpText.sub)} />
      <nav aria-label={t(helpText.contents)}>
        <ul className="help-contents">
          {topics.map((topic) => (
            <li key={topic}>
              <a href={`#${topic}`}>{t(helpTopics[topic].title)}</a>
            </li>
          ))}
        </ul>
      </nav>
      {topics.map((topic) => (
        <section key={topic} aria-labelledby={topic}>
          <h2 id={topic}>{t(helpTopics[topic].title)}</h2>
          {helpTopics[topic].text.map((phrase) => (
            <p key={phrase.en}>{t(phrase)}</p>
          ))}
          <KeyTable commands={commandsOfTopic(topic)} settings={settings} />
        </section>
      ))}
    </div>
  );
}

function isTopic(name: string): name is HelpTopicId {
  return Object.hasOwn(helpTopics, name);
}

/** Some commands with the keys that the user has chosen for them. */
function KeyTable({
  commands,
  settings,
}: {
  readonly commands: readonly CommandId[];
  readonly settings: EditSettings;
}) {
  const t = useText();
  const chosen = activeKeys(settings);
  if (commands.length === 0) return null;
  return (
    <dl className="help-keys">
      {commands.map((id) => {
        const keys = keysOf(id, chosen);
        return (
          <div key={id}>
            <dt>{t(editKeysText[id])}</dt>
            <dd>
              {keys.length === 0 && <span className="quiet">{t(editKeysText.noKey)}</span>}
              {keys.map((chord) => (
                <kbd key={chord}>{chordText(chord)}</kbd>
              ))}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
