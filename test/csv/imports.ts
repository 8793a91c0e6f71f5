import { afterAll, beforeAll, beforeEach } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

export interface Imports {
	served: TestConsole;
	/** The organization of the current test. */
	organization_id: string;
	/** A member of the organization. */
	member: Session;
	/** Imports these lines as a dry run, unless `more` says otherwise. */
	tryImport: (kind: string, lines: string[], more?: object) => Promise<Json>;
	doImport: (kind: string, lines: string[], more?: object) => Promise<Json>;
	/** Adds a person and returns the id. */
	addPerson: (full_name: string, email: string) => Promise<string>;
}

/**
 * Starts the service for the tests of a file. Each test gets its own organization, so that no test
 * sees the records of another one.
 */
export function testImports(): Imports {
	const imports = {
		tryImport: (kind, lines, more = {}) =>
			imports.member.use("importRecords", {
				organization_id: imports.organization_id,
				kind,
				csv: lines.join("\r\n"),
				...more,
			}),
		doImport: (kind, lines, more = {}) =>
			imports.tryImport(kind, lines, { dry_run: false, ...more }),
		addPerson: async (full_name, primary_email_address) => {
			const { people } = await imports.member.use("addPeople", {
				organization_id: imports.organization_id,
				full_name,
				primary_email_address,
				kind: "EMPLOYEE",
			});
			return people.id;
		},
	} as Imports;
	beforeAll(async () => {
		imports.served = await shareConsole();
	});
	afterAll(() => imports.served.close());
	beforeEach(async () => {
		const { database } = imports.served;
		imports.organization_id = await createOrganization(
			database.pool,
			"Imports",
		);
		imports.member = await imports.served.signIn(
			"member",
			imports.organization_id,
		);
	});
	return imports;
}

export const outcomes = (result: Json) =>
	result.lines.map((line: Json) => line.outcome);

/** Returns each error of the lines as one text: line, column and message. */
export const issues = (result: Json) =>
	result.lines.flatMap((line: Json) =>
		line.issues.map(
			(issue: Json) => `${line.line} ${issue.column}: ${issue.message}`,
		),
	);
