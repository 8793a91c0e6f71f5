import type { Source } from "./package-file.ts";
import { PARTS } from "./package-parts.ts";

/** Returns the text that tells an auditor what the package is and how to check it. */
export function readme({ scope, subject }: Source, madeBy: string): string {
	const { organization, audit, timeZone, now, isOver } = subject;
	const facts = [
		["Organization", organization],
		...(audit
			? [
					["Audit", audit.name ?? audit.id],
					["Framework", audit.framework],
				]
			: []),
		["Period", `${scope.from} to ${scope.until} (days in ${timeZone})`],
		["Made", `${now} by ${madeBy}, with Assay`],
	] as [string, string][];
	return `AUDIT PACKAGE

${facts.map(([name, value]) => `${`${name}:`.padEnd(14)}${oneLine(value)}`).join("\n")}

This package was made from the compliance records that the organization keeps in
Assay. Everything in it was read at the one moment above. Registers, members and
statements of applicability are as they were at that moment. What changed in the
period, and who changed it, is in the audit log.
${isOver ? "Devices are as they were at the end of the period." : "The period was not over yet, so devices are as they were at that moment."}

WHAT IS INSIDE

${PARTS.map(({ path, about }) => `${path}\n${wrap(about)}`).join("\n")}
manifest.json
${wrap("Each file with its size, its SHA-256 and its number of rows.")}
SHA256SUMS
${wrap("The same digests for common tools.")}

Files that end in .csv are tables in UTF-8, with commas. A cell that a
spreadsheet could take for a formula begins with an apostrophe. Times are in UTC.
${scope.withFiles ? "" : "\nThe files of evidence were left out when the package was made. evidence/files.csv\nhas their names and digests.\n"}
HOW TO CHECK IT

1. Unpack the package, and open a terminal in its folder.
2. Linux:   sha256sum --check SHA256SUMS
   macOS:   shasum -a 256 --check SHA256SUMS
   Windows: Get-FileHash FILE in PowerShell, for each file that matters
   If all digests match, no file was damaged or changed since they were written.
3. The digests do not show who made the package. Ask the organization for the
   SHA-256 of manifest.json in another way, and compare it.
4. audit-log/verification.json has finding_count 0 if the service found the chain
   of the audit log unbroken. Each entry has a hash over itself and the hash before
   it. If you noted the newest hash at an earlier audit, look for it in
   audit-log/hashes.csv. If it is there, the log up to that entry is unchanged.

WHAT IS NOT INSIDE

Passwords, keys and tokens; the texts of drafts of documents; raw reports of
devices; evidence that only has an address elsewhere, except for that address.
Comments have no file of their own. The audit log has the text of each comment
that was added, changed or deleted in the period.
`;
}

const oneLine = (text: string) => text.replace(/\p{Cc}/gu, " ");

/** Indents a text, in lines of at most 80 characters. */
function wrap(text: string): string {
	const lines: string[] = [];
	let line = "   ";
	for (const word of text.split(" ")) {
		if (line.length + 1 + word.length > 80) {
			lines.push(line);
			line = "   ";
		}
		line += ` ${word}`;
	}
	return [...lines, line].join("\n");
}
