import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload, IconPrinter } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { showFailure } from "../../parts/show-failure.ts";
import { saveFile } from "../../save-file.ts";
import { FILE_CUT, MAX_FILE_ROWS, type Report } from "./report.ts";
import { toCsv } from "./report-csv.ts";

const FORMS = { pdf: "PDF", xlsx: "Excel", csv: "CSV" } as const;
type Form = keyof typeof FORMS;

/** Saves a report as a file, or prints it. */
export function ReportActions({
	report,
	readForFile,
	title,
	fileName,
	aboutOf,
}: {
	/** The report as the page shows it. */
	report: Report;
	/** Reads the report with more rows, for files that have one value in a cell. */
	readForFile: () => Promise<Report>;
	title: string;
	/** Name of the files without their ending. */
	fileName: string;
	/** Returns the day or the version of the report in words, with the moment of the replica. */
	aboutOf: (moment: string | undefined) => string;
}) {
	const { organization } = useOrganization();
	const saving = useMutation({
		mutationFn: async (form: Form) => {
			const isRead = form === "pdf" || !report.isCut;
			const saved = isRead ? report : await readForFile();
			// A CSV file has no place for a sentence, so its name says that rows are missing.
			const isCut = form !== "pdf" && saved.isCut;
			const name = [
				fileName,
				saved.replicaMoment &&
					`replica-${saved.replicaMoment.slice(0, 19).replaceAll(":", "-")}Z`,
				isCut && `first-${MAX_FILE_ROWS}-rows`,
			]
				.filter(Boolean)
				.join("-");
			const frame = {
				title: [title, saved.subject].filter(Boolean).join(": "),
				head: organization.name,
				foot: name,
			};
			const about = aboutOf(saved.replicaMoment);
			const words = about.charAt(0).toUpperCase() + about.slice(1);
			if (isCut) notifications.show({ color: "orange", message: FILE_CUT });
			if (form === "csv") {
				const type = "text/csv;charset=utf-8";
				return saveFile(`${name}.csv`, new Blob([toCsv(saved)], { type }));
			}
			if (form === "xlsx") {
				const { saveXlsx } = await import("../../exports/xlsx.ts");
				const head = [frame.title, frame.head, words];
				if (isCut) head.push(FILE_CUT);
				return saveXlsx(`${name}.xlsx`, saved, head);
			}
			const { reportToPdf } = await import("./report-pdf.ts");
			return reportToPdf(`${name}.pdf`, saved, frame, words);
		},
		onError: (error) => showFailure("Not saved", error.message),
	});
	return (
		<>
			{(Object.keys(FORMS) as Form[]).map((form) => (
				<Button
					key={form}
					variant="default"
					leftSection={<IconDownload size={16} aria-hidden />}
					loading={saving.isPending && saving.variables === form}
					onClick={() => saving.mutate(form)}
				>
					{FORMS[form]}
				</Button>
			))}
			<Button
				leftSection={<IconPrinter size={16} aria-hidden />}
				onClick={() => window.print()}
			>
				Print
			</Button>
		</>
	);
}
