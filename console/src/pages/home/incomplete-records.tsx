import { useQuery } from "@tanstack/react-query";
import { type LinkOptions, linkOptions } from "@tanstack/react-router";
import { DAY_MS } from "../../../../src/units.ts";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { operationQuery } from "../../queries.ts";
import { isHidden } from "./hidden-lists.ts";
import { HideableSection } from "./hideable-section.tsx";
import styles from "./home.module.css";

type Gap = OutputOf<"getNextSteps">["gaps"][number];

/** For 90 days. Later the lists, the reports and the board summary say what waits. */
const NEW_FOR_MS = 90 * DAY_MS;

/**
 * Lists what waits for somebody in a new organization, each with a link to exactly these records.
 * The reader can hide it. Without `hasDevices`, it leaves out the people and devices, because the
 * first steps name them.
 */
export default function IncompleteRecords({
	hasDevices,
}: {
	hasDevices?: boolean;
}) {
	const { organization, mayWriteKind, mayAdmin } = useOrganization();
	const { id: org, created_at } = organization;
	const isNew = Date.now() - Date.parse(created_at) < NEW_FOR_MS;
	const { data } = useQuery({
		...operationQuery("getNextSteps", { organization_id: org }),
		enabled: isNew && !isHidden("gaps", org),
	});
	if (!data) return null;
	const isAfterSteps = mayAdmin && hasDevices !== undefined;
	const lines = [
		...data.gaps
			.filter(({ kind }) => mayWriteKind(kind))
			.map((gap) => ({ text: wordsOf(gap), link: listOf(org, gap) })),
		...(isAfterSteps && data.is_alone
			? [
					{
						text: "Nobody else is a member or invited",
						link: linkOptions({
							to: "/o/$org/settings/members",
							params: { org },
						}),
					},
				]
			: []),
		...(isAfterSteps && !hasDevices
			? [
					{
						text: "No device is enrolled",
						link: linkOptions({
							to: "/o/$org/first-steps",
							params: { org },
							search: { step: "DEVICE" },
						}),
					},
				]
			: []),
	];
	if (lines.length === 0) return null;
	return (
		<HideableSection title="What comes next" list="gaps">
			<ul className={styles.rows}>
				{lines.map(({ text, link }) => (
					<li key={text} className={styles.row}>
						<TextLink {...link} size="sm">
							{text}
						</TextLink>
					</li>
				))}
			</ul>
		</HideableSection>
	);
}

const WORDS: Record<Gap["key"], [one: string, many: string]> = {
	UNDECIDED_RISKS: [
		"suggested risk that nobody has decided about",
		"suggested risks that nobody has decided about",
	],
	RISKS_WITHOUT_OWNER: ["risk without an owner", "risks without an owner"],
	MEASURES_WITHOUT_OWNER: [
		"measure without an owner",
		"measures without an owner",
	],
	CONTROLS_WITHOUT_MEASURE: [
		"control that no measure is linked to",
		"controls that no measure is linked to",
	],
};

function wordsOf({ key, count }: Gap): string {
	const [one, many] = WORDS[key];
	return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** Returns the link to the list with the records. */
function listOf(org: string, { kind, filter }: Gap): LinkOptions {
	return linkOptions({
		to: "/o/$org/r/$kind",
		params: { org, kind },
		search: filter,
	});
}
