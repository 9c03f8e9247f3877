/** Returns undefined for a blank value. */
export function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
): string | undefined {
  const text = env[variable]?.trim();
  return text === "" ? undefined : text;
}
