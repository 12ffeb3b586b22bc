/** The logo: an ear. */
export function Mark() {
  return (
    <svg
      viewBox="0 0 26 26"
      width="26"
      height="26"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M7 11a6.5 6.5 0 1 1 12 3.4c-1.2 2-3 2.7-3.4 4.8-.4 2.2-1.6 3.8-3.8 3.8a3.8 3.8 0 0 1-3.7-3" />
      <path d="M10.2 11.2a3.2 3.2 0 1 1 5.4 2.3c-.9.8-1.5 1.4-1.5 2.6" />
    </svg>
  );
}
