import type { Language } from "./language.tsx";

// Chromium has no Icelandic dates. The names are defined here for both languages, so that every
// browser shows the same names.
const months: Readonly<Record<Language, readonly string[]>> = {
  is: [
    "janúar",
    "febrúar",
    "mars",
    "apríl",
    "maí",
    "júní",
    "júlí",
    "ágúst",
    "september",
    "október",
    "nóvember",
    "desember",
  ],
  en: [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
  ],
};

const monthsShort: Readonly<Record<Language, readonly string[]>> = {
  is: [
    "jan.",
    "feb.",
    "mars",
    "apr.",
    "maí",
    "júní",
    "júlí",
    "ág.",
    "sept.",
    "okt.",
    "nóv.",
    "des.",
  ],
  en: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
};

/**
 * Returns a date such as "18. nóvember 2026" or "18 November 2026", in the time zone of this
 * machine.
 */
export function longDate(language: Language, date: Date): string {
  const month = months[language][date.getMonth()] ?? "";
  return `${dayOfMonth(language, date)} ${month} ${date.getFullYear()}`;
}

/**
 * Returns a date such as "18. nóv." or "18 Nov", with the year if it differs from that of `now`.
 */
export function shortDate(language: Language, date: Date, now: Date): string {
  const month = monthsShort[language][date.getMonth()] ?? "";
  const text = `${dayOfMonth(language, date)} ${month}`;
  return date.getFullYear() === now.getFullYear() ? text : `${text} ${date.getFullYear()}`;
}

/** Returns the name of a month, such as "nóvember" or "November". */
export function monthName(language: Language, date: Date): string {
  return months[language][date.getMonth()] ?? "";
}

/** "16:02". */
export function clockTime(date: Date): string {
  const [hours, minutes] = [date.getHours(), date.getMinutes()].map(twoDigits);
  return `${hours}:${minutes}`;
}

/**
 * Returns a time relative to `now`: "rétt í þessu", "fyrir 3 mín.", "í dag 09:41", "í gær 16:02",
 * "18. nóv. 16:02".
 */
export function when(language: Language, date: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000);
  if (minutes < 1 && minutes > -2) return language === "is" ? "rétt í þessu" : "just now";
  if (minutes > 0 && minutes < 60) {
    return language === "is" ? `fyrir ${minutes} mín.` : `${minutes} min ago`;
  }
  const time = clockTime(date);
  const daysAgo = Math.round((startOfDay(now) - startOfDay(date)) / 86_400_000);
  if (daysAgo === 0) return language === "is" ? `í dag ${time}` : `today ${time}`;
  if (daysAgo === 1) return language === "is" ? `í gær ${time}` : `yesterday ${time}`;
  return `${shortDate(language, date, now)} ${time}`;
}

function dayOfMonth(language: Language, date: Date): string {
  return language === "is" ? `${date.getDate()}.` : `${date.getDate()}`;
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
