/** Returns the text of a form's field without surrounding blanks; empty if the field is missing. */
export function readField(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}
