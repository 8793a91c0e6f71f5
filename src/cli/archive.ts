import { type Command, InvalidArgumentError } from "commander";
import {
	type ArchiveFault,
	type ArchiveFile,
	findArchiveFaults,
	readArchiveFiles,
} from "../archive/archive-files.ts";
import { openArchiveStore } from "../archive/archive-store.ts";
import { forgetArchiveFiles } from "../archive/forget-files.ts";
import { readConfig } from "../config/config.ts";
import type { ArchivePlace } from "../config/read-archive.ts";
import { AppError } from "../errors.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { counted, print, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	org?: string;
	json?: boolean;
}

interface VerifyOptions extends Options {
	/** True if the option has no value. */
	forgetMissing?: true | "all";
}

/** Checks the value of --forget-missing, which can only be "all". */
function parseAll(text: string): "all" {
	if (text === "all") return text;
	throw new InvalidArgumentError('Give no value, or "all".');
}

/** Adds the commands that list and check the archive of raw reports. */
export function addArchive(program: Command): void {
	const archive = program
		.command("archive")
		.description(
			"List and check the Parquet files of closed months of raw reports. The service writes them if ASSAY_ARCHIVE_URL is set.",
		);
	archive
		.command("list")
		.description("List the files that are complete.")
		.option("--org <id>", "only the files of this organization")
		.option("--json", "print the files as JSON")
		.action(async (options: Options) => {
			const files = await readFiles(options);
			print(options, { files }, listed(files));
		});
	archive
		.command("verify")
		.description(
			"Read every file from the archive and compare it with its SHA-256. A missing or different file makes the exit code 1.",
		)
		.option("--org <id>", "only the files of this organization")
		.option("--json", "print the faults as JSON")
		.option(
			"--forget-missing [all]",
			"forget files that are lost for good; the service writes a file again if the database still has its month. If the archive has no file at all, add the word all.",
			parseAll,
		)
		.action(async (options: VerifyOptions) => {
			const store = openArchiveStore(requirePlace());
			const files = await readFiles(options);
			const faults = await findArchiveFaults(store, files);
			const forgotten = options.forgetMissing
				? await forgetMissing(files, faults, options.forgetMissing)
				: [];
			const left = faults.filter(({ name }) => !forgotten.includes(name));
			print(
				options,
				{
					files: files.length,
					faults,
					...(options.forgetMissing && { forgotten }),
				},
				faults.length === 0
					? `Checked ${counted(files.length, "file")} of the archive. Each is there and unchanged.`
					: table(
							["FAULT", "NAME"],
							faults.map(({ fault, name }) => [
								forgotten.includes(name) ? `${fault}, forgotten` : fault,
								name,
							]),
						),
			);
			if (left.length > 0) process.exitCode = 1;
		});
}

/**
 * Forgets the missing files, and returns their names. Throws bad_request if no file is there,
 * because ASSAY_ARCHIVE_URL then probably names another folder or bucket.
 */
async function forgetMissing(
	files: readonly ArchiveFile[],
	faults: readonly ArchiveFault[],
	which: true | "all",
): Promise<string[]> {
	const names = faults
		.filter(({ fault }) => fault === "missing")
		.map(({ name }) => name);
	if (names.length === 0) return names;
	if (names.length === files.length && which !== "all") {
		throw new AppError(
			"bad_request",
			`the archive has none of the ${counted(files.length, "file")}, so ASSAY_ARCHIVE_URL probably names another place, or the folder is not mounted; if all are lost for good, add the word all to --forget-missing`,
		);
	}
	await withDatabase(({ ownerConnection }) =>
		forgetArchiveFiles(ownerConnection, names),
	);
	return names;
}

function readFiles({ org }: Options): Promise<ArchiveFile[]> {
	const organizationId =
		org === undefined ? undefined : parseOrganizationId(org);
	return withDatabase(({ ownerConnection }) =>
		readArchiveFiles(ownerConnection, organizationId),
	);
}

function listed(files: readonly ArchiveFile[]): string {
	if (files.length === 0) {
		return "The archive has no files yet. A month is archived two weeks after its end, if ASSAY_ARCHIVE_URL is set.";
	}
	return table(
		["RESULTS", "BYTES", "CHANGED DEVICES", "NAME"],
		files.map((file) => [
			String(file.results),
			String(file.bytes),
			String(file.changed_devices),
			file.name,
		]),
	);
}

function requirePlace(): ArchivePlace {
	const { archivePlace } = readConfig(process.env);
	if (archivePlace) return archivePlace;
	throw new AppError(
		"bad_request",
		"ASSAY_ARCHIVE_URL is not set, so there is no archive to read",
	);
}
