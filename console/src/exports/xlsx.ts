import type { Report } from "../pages/reports/report.ts";
import { saveFile } from "../save-file.ts";
import { makeXlsx } from "./make-xlsx.ts";

/** Saves a report as an Excel file. */
export async function saveXlsx(
	fileName: string,
	report: Report,
	about: readonly string[],
): Promise<void> {
	saveFile(fileName, await makeXlsx(report, about));
}
