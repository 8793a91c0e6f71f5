import { day } from "./day.ts";
import {
	ISO_27001,
	ISO_CONTROLS,
	PROCESSOR,
	PROCESSOR_CONTROLS,
} from "./organization/frameworks.ts";
import { ASSETS, DATA } from "./organization/inventory.ts";
import { MEASURES } from "./organization/measures.ts";
import { addressOf, OTHERS, PEOPLE } from "./organization/people.ts";
import { RISKS } from "./organization/risks.ts";
import { VENDOR_REVIEWS } from "./organization/vendor-reviews.ts";
import { VENDORS } from "./organization/vendors.ts";
import type { RecordsByKey } from "./records-by-key.ts";
import type { Moment } from "./timeline.ts";

/**
 * Returns one of `count` days that are spread evenly from `first` to `last`. `index` says which
 * one.
 */
export function spread(
	first: number,
	last: number,
	index: number,
	count: number,
): number {
	return first + ((last - first) * index) / Math.max(count - 1, 1);
}

/**
 * Returns the moments of the registers that seldom change: people, vendors, frameworks, risks,
 * measures, assets and data.
 */
export function registerMoments(records: RecordsByKey): Moment[] {
	return [
		...addPeople(records),
		...addVendors(records),
		...reviewVendors(records),
		...addFrameworks(records),
		...addRisks(records),
		...addMeasures(records),
		...addInventory(records),
	];
}

function addPeople({ add }: RecordsByKey): Moment[] {
	const employees = PEOPLE.map(([key, full_name, position, months]) => ({
		key,
		input: {
			full_name,
			position,
			kind: "EMPLOYEE",
			primary_email_address: addressOf(full_name),
			contract_start_date: day(-months * 30.4),
		},
	}));
	const others = OTHERS.map(({ full_name, position, kind, ...contract }) => ({
		key: full_name,
		input: {
			full_name,
			position,
			kind,
			primary_email_address: addressOf(full_name),
			contract_start_date: day(contract.starts),
			...("ends" in contract && { contract_end_date: day(contract.ends) }),
		},
	}));
	return [...employees, ...others].map(({ key, input }) => ({
		daysAgo: 234,
		kind: "people",
		run: () => add("addPeople", key, input, "admin"),
	}));
}

function addVendors({ add, id }: RecordsByKey): Moment[] {
	return VENDORS.map(({ key, owner, ...vendor }, index) => ({
		daysAgo: 226 - (index % 3),
		kind: "vendor",
		run: () =>
			add(
				"addVendor",
				key,
				{ ...vendor, owner_id: id("people", owner) },
				"member",
			),
	}));
}

function reviewVendors({ use, id }: RecordsByKey): Moment[] {
	return VENDOR_REVIEWS.map(
		([vendor, daysAgo, outcome, risk_rating, nextInDays, note]) => ({
			// Work on a weekend is dated on the Friday before, and nobody records a review to come.
			daysAgo: daysAgo - 2,
			run: () =>
				use("addVendorReview", {
					vendor_id: id("vendor", vendor),
					reviewed_on: day(-daysAgo),
					next_review_date: day(nextInDays),
					outcome,
					risk_rating,
					note,
				}),
		}),
	);
}

function addFrameworks({ add, id }: RecordsByKey): Moment[] {
	return [
		{ key: "iso", framework: ISO_27001, controls: ISO_CONTROLS, daysAgo: 210 },
		{
			key: "processor",
			framework: PROCESSOR,
			controls: PROCESSOR_CONTROLS,
			daysAgo: 188,
		},
	].flatMap(({ key, framework, controls, daysAgo }) => [
		{ daysAgo, run: () => add("addFramework", key, framework, "admin") },
		...controls.map(({ number, section, name, description, excluded }) => ({
			daysAgo: daysAgo - 0.1,
			kind: "control",
			run: () =>
				add(
					"addControl",
					number,
					{
						framework_id: id("framework", key),
						section_title: section,
						name: `${number} ${name}`,
						description,
						...(excluded && {
							status: "EXCLUDED",
							exclusion_justification: excluded,
						}),
					},
					"admin",
				),
		})),
	]);
}

/** Each risk is assessed when it is found, and again after something was done about it. */
function addRisks({ add, update, id }: RecordsByKey): Moment[] {
	return RISKS.flatMap((risk, index) => {
		const { key, owner, measures, inherent, residual, note, ...text } = risk;
		const reassessed = spread(
			176,
			16,
			(index * 7) % RISKS.length,
			RISKS.length,
		);
		// Each risk is looked at twice a year.
		const review = day(184 - Math.round(reassessed));
		return [
			{
				daysAgo: 201 - 4 * (index % 6),
				kind: "risk",
				run: () =>
					add(
						"addRisk",
						key,
						{
							...text,
							inherent_likelihood: inherent[0],
							inherent_impact: inherent[1],
							owner_id: id("people", owner),
						},
						"admin",
					),
			},
			{
				daysAgo: reassessed,
				run: () =>
					update("updateRisk", id("risk", key), {
						residual_likelihood: residual[0],
						residual_impact: residual[1],
						note,
						next_review_date: review,
						...(risk.treatment === "ACCEPTED" && { accepted_until: review }),
					}),
			},
		];
	});
}

function addMeasures({ add, update, link, id }: RecordsByKey): Moment[] {
	return MEASURES.flatMap((measure, index) => {
		const { key, owner, controls, state, ...text } = measure;
		const begun = state === "IMPLEMENTED" ? "IN_PROGRESS" : "NOT_STARTED";
		const added: Moment = {
			daysAgo: 176 - 3 * (index % 7),
			kind: "measure",
			run: async () => {
				const measureId = await add(
					"addMeasure",
					key,
					{ ...text, state: begun, owner_id: id("people", owner) },
					"member",
				);
				for (const number of controls) {
					await link(measureId, id("control", number));
				}
				for (const risk of RISKS) {
					if (risk.measures.includes(key)) {
						await link(measureId, id("risk", risk.key));
					}
				}
			},
		};
		if (state === begun) return [added];
		return [
			added,
			{
				daysAgo: spread(
					146,
					9,
					(index * 11) % MEASURES.length,
					MEASURES.length,
				),
				run: () => update("updateMeasure", id("measure", key), { state }),
			},
		];
	});
}

function addInventory({ add, link, id }: RecordsByKey): Moment[] {
	const vendorIds = (keys: readonly string[]) =>
		keys.map((key) => id("vendor", key));
	return [
		...ASSETS.map(
			(
				[key, name, amount, asset_type, data_types_stored, owner, vendors],
				index,
			) => ({
				daysAgo: 148 - (index % 2),
				kind: "asset",
				run: () =>
					add(
						"addAsset",
						key,
						{
							name,
							amount,
							asset_type,
							data_types_stored,
							owner_id: id("people", owner),
							vendor_ids: vendorIds(vendors),
						},
						"member",
					),
			}),
		),
		...DATA.map(([name, data_classification, owner, vendors]) => ({
			daysAgo: 141,
			kind: "datum",
			run: () =>
				add(
					"addDatum",
					name,
					{
						name,
						data_classification,
						owner_id: id("people", owner),
						vendor_ids: vendorIds(vendors),
					},
					"member",
				),
		})),
		...ASSET_RISKS.map(([asset, risk]) => ({
			daysAgo: 137,
			kind: "link",
			run: () => link(id("asset", asset), id("risk", risk)),
		})),
		...VENDOR_RISKS.map(([vendor, risk]) => ({
			daysAgo: 137,
			kind: "link",
			run: () => link(id("vendor", vendor), id("risk", risk)),
		})),
	];
}

const ASSET_RISKS = [
	["laptops", "ransomware"],
	["laptops", "stolen"],
	["frontdesk", "frontdesk"],
	["production", "region"],
	["production", "capacity"],
	["production", "tenant"],
	["backups", "restore"],
	["repositories", "secrets"],
	["services", "dependency"],
	["services", "release"],
	["directory", "phishing"],
	["directory", "leaver"],
	["tickets", "excess"],
	["tickets", "vendorbreach"],
	["edge", "ddos"],
] as const;

const VENDOR_RISKS = [
	["aws", "region"],
	["stripe", "processor"],
	["zendesk", "vendorbreach"],
	["datadog", "vendorbreach"],
	["snowflake", "vendorbreach"],
	["cloudflare", "ddos"],
	["github", "secrets"],
] as const;
