import { Choice } from "../../../parts/choice.tsx";
import { when } from "../../../text/dates.ts";
import { useLanguage, useText } from "../../../text/language.tsx";
import { asideDialogText } from "../../../text/aside-dialogs.ts";
import { useNow } from "../../../text/use-now.ts";
import { useVersions } from "../use-versions.ts";

/**
 * The choice of the version to compare with: the previous version, or another version in the list.
 */
export function AgainstChoice({
  name,
  version,
  against,
  onChoose,
}: {
  readonly name: string;
  readonly version: string;
  readonly against: string | undefined;
  readonly onChoose: (against: string | undefined) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { versions } = useVersions(name);
  const now = useNow();
  const compared = versions.find(({ name: id }) => id === version);
  const others = versions.flatMap(({ name: id = "", creationTime = "" }) =>
    id === version || id === compared?.parent
      ? []
      : [{ value: id, text: when(language, new Date(creationTime), now) }],
  );
  const isListed = against === undefined || others.some(({ value }) => value === against);
  return (
    <div className="against-choice">
      {compared && (
        <p className="quiet">
          {t(asideDialogText.versionOf)(when(language, new Date(compared.creationTime ?? ""), now))}
        </p>
      )}
      <Choice
        label={t(asideDialogText.comparedWith)}
        value={against ?? ""}
        options={[
          { value: "", text: t(asideDialogText.theOneBefore) },
          ...others,
          ...(isListed ? [] : [{ value: against, text: against }]),
        ]}
        onChange={(chosen) => onChoose(chosen === "" ? undefined : chosen)}
      />
    </div>
  );
}
