/** Takes the code out of the address, so that it is in no history and no bookmark; undefined without one. */
export function takeCode(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, "", `${location.pathname}#/`);
  return code;
}
