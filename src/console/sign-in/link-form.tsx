import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { callConsole } from "../api/call-api.ts";
import { areAllInFields, violationIn } from "../api/violations.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { useLanguage, useText } from "../text/language.tsx";
import { signInLinkProblems, signInLinkText } from "../text/sign-in-link.ts";

/** A form for requesting a sign-in link by mail, in the language of the page. */
export function LinkForm() {
  const t = useText();
  const { language } = useLanguage();
  const [email, setEmail] = useState("");
  const [isMissing, setIsMissing] = useState(false);
  const request = useMutation({
    mutationFn: (asked: { readonly email: string; readonly languageCode: string }) =>
      callConsole<object>("/console/session:requestLink", { method: "POST", body: asked }),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const address = email.trim();
    setIsMissing(address === "");
    if (address === "") request.reset();
    else if (!request.isPending) request.mutate({ email: address, languageCode: language });
  };
  const wrong = violationIn(request.error, "email") && t(signInLinkText.emailWrong);
  return (
    <form className="link-form" aria-labelledby="link-form" onSubmit={submit} noValidate>
      <h2 id="link-form">{t(signInLinkText.link)}</h2>
      <TextInput
        label={t(signInLinkText.email)}
        hint={t(signInLinkText.emailHint)}
        problem={isMissing ? t(signInLinkText.emailMissing) : wrong}
        type="email"
        autoComplete="email"
        spellCheck="false"
        value={email}
        onChange={setEmail}
      />
      {request.error && !areAllInFields(request.error, ["email"]) && (
        <ProblemNote error={request.error} own={signInLinkProblems} />
      )}
      <Button type="submit" isPending={request.isPending}>
        {t(signInLinkText.sendLink)}
      </Button>
      <output className={request.data && "note"}>
        {request.data && t(signInLinkText.linkSent)(request.variables.email)}
      </output>
    </form>
  );
}
