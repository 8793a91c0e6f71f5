import { parseId } from "../id.ts";
import { archivedField } from "../records/archived-field.ts";
import {
	choice,
	countries,
	datesInOrder,
	names,
	optionalDate,
	optionalName,
	optionalText,
	optionalUrl,
	owner,
	requiredName,
} from "../records/field.ts";
import type { Filter } from "../records/filter.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";
import { anyIdSchema } from "../records/text-schemas.ts";

const CATEGORIES = [
	"ANALYTICS",
	"CLOUD_MONITORING",
	"CLOUD_PROVIDER",
	"COLLABORATION",
	"CUSTOMER_SUPPORT",
	"DATA_STORAGE_AND_PROCESSING",
	"DOCUMENT_MANAGEMENT",
	"EMPLOYEE_MANAGEMENT",
	"ENGINEERING",
	"FINANCE",
	"IDENTITY_PROVIDER",
	"IT",
	"MARKETING",
	"OFFICE_OPERATIONS",
	"OTHER",
	"PASSWORD_MANAGEMENT",
	"PRODUCT_AND_DESIGN",
	"PROFESSIONAL_SERVICES",
	"RECRUITING",
	"SALES",
	"SECURITY",
	"VERSION_CONTROL",
] as const;

export const RISK_RATINGS = [
	"NOT_RATED",
	"LOW",
	"MEDIUM",
	"HIGH",
	"CRITICAL",
] as const;

/** The records that name vendors: their table, and the table that holds the vendors of each. */
const USERS = {
	asset: { table: "assets", vendors: "asset_vendors" },
	datum: { table: "data", vendors: "datum_vendors" },
} as const;
type User = keyof typeof USERS;
const USER_KINDS = Object.keys(USERS) as User[];

const userKindOf = (id: unknown) =>
	USER_KINDS.find((kind) => kind === parseId(String(id))?.kind);

const vendorsOf = (kind: User) => `
	select j.vendor_id from ${USERS[kind].vendors} j where j.organization_id = t.organization_id`;

/** Finds the vendors that an asset or a data type names, or those that none names. */
const usedBy: Filter = {
	schema: anyIdSchema()
		.refine(
			(id) => userKindOf(id) !== undefined,
			"must be the id of an asset or of a data type",
		)
		.nullable()
		.describe("Asset or data type that names it; null: none does"),
	sql: (parameter, value) => {
		const kind = userKindOf(value) ?? "datum";
		return `t.id in (${vendorsOf(kind)} and j.${kind}_id = ${parameter})`;
	},
	whenNull: USER_KINDS.map(
		(kind) => `not exists (${vendorsOf(kind)} and j.vendor_id = t.id)`,
	).join(" and "),
	whyNone: async (client, organizationId, value) => {
		const { table } = USERS[userKindOf(value) ?? "datum"];
		const { rowCount } = await client.query(
			`select from ${table} t where t.organization_id = $1 and t.id = $2`,
			[organizationId, value],
		);
		return rowCount
			? undefined
			: "is the id of a record that this organization does not have";
	},
};

export const vendor = recordKind({
	kind: "vendor",
	table: "vendors",
	tool: { one: "Vendor", many: "Vendors" },
	key: { one: "vendor", many: "vendors" },
	noun: "vendor",
	nouns: "vendors",
	help: "A vendor is a company or service that the organization relies on.",
	title: "name",
	beside: ["category", "owner_id"],
	isLinkable: true,
	fields: {
		name: requiredName("Name of the vendor"),
		description: optionalText("What it does for the organization"),
		category: choice(CATEGORIES, "Purpose", "OTHER"),
		legal_name: optionalName("Company name in contracts"),
		website_url: optionalUrl("Website"),
		privacy_policy_url: optionalUrl("Privacy policy"),
		dpa_url: optionalUrl("Data processing agreement"),
		security_page_url: optionalUrl("Security page"),
		status_page_url: optionalUrl("Status page"),
		certifications: names("Certifications it holds, such as ISO 27001"),
		countries: countries("Countries where it processes data"),
		owner_id: owner(),
		contract_start_date: optionalDate("First day of the contract"),
		contract_end_date: optionalDate("Last day of the contract"),
		renewal_notice_date: optionalDate("Last day on which notice can be given"),
		agreement_status: choice(
			["NONE", "REQUESTED", "SIGNED", "NOT_NEEDED"],
			"Data processing agreement",
			"NONE",
		),
		agreement_signed_on: optionalDate("Day on which it was signed"),
		risk_rating: choice(RISK_RATINGS, "Risk to the organization", "NOT_RATED"),
		last_review_date: optionalDate("Date of the last review"),
		next_review_date: optionalDate("Date of the next review"),
		services: names("Services that it provides"),
		data_categories: names("Categories of data that it processes"),
		subprocessors: names("Companies that it passes data to"),
		contacts: names("People to contact there, with role and address"),
		archived_at: archivedField(),
	},
	brief: ["name", "category", "risk_rating", "next_review_date", "owner_id"],
	orders: {
		name: byText("name"),
		contract_end_date: byDate("contract_end_date", "contract_start_date"),
		next_review_date: byDate("next_review_date"),
	},
	filters: ["category", "risk_rating", "agreement_status", "owner_id"],
	reminders: ["next_review_date", "renewal_notice_date"],
	check: datesInOrder("contract_start_date", "contract_end_date"),
	otherFilters: { used_by: usedBy },
});
