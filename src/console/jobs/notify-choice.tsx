import { useState } from "react";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { canNotify, isNotifying, setNotifying } from "./notifications.ts";

/** The choice whether the browser shows a notification when a job ends. */
export function NotifyChoice() {
  const t = useText();
  const [isOn, setIsOn] = useState(isNotifying);
  const [isRefused, setIsRefused] = useState(false);
  if (!canNotify()) return null;
  const choose = async (wanted: boolean): Promise<void> => {
    const isNowOn = await setNotifying(wanted);
    setIsOn(isNowOn);
    setIsRefused(wanted && !isNowOn);
  };
  return (
    <div className="jobs-notify">
      <label>
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => void choose(target.checked)}
        />
        <span>{t(jobsText.notify)}</span>
      </label>
      {isRefused && (
        <p className="failed" role="alert">
          {t(jobsText.notifyRefused)}
        </p>
      )}
    </div>
  );
}
