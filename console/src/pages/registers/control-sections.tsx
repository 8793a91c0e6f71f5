import { Accordion, Box, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { percentInWords } from "../../parts/percent.ts";
import { LinkDialog } from "../../parts/records/link-dialog.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import styles from "./coverage.module.css";
import { CoverageBar } from "./coverage-bar.tsx";
import {
	type CoveredControl,
	countStates,
	type Section,
	STATES,
	sectionsOf,
	stateOf,
} from "./coverage-states.ts";

type CheckResult = OutputOf<"getFrameworkCoverage">["checks"][number];

/**
 * With more controls than this, the sections start folded, because finding one would otherwise take
 * much scrolling.
 */
const FEW = 40;

/**
 * Lists the controls by section. The reader can link each control to the measure that meets it. The
 * figures of a section count all its controls, also those that are not shown.
 */
export function ControlSections({
	controls,
	results,
	isShown,
	organizationId,
}: {
	controls: readonly CoveredControl[];
	results: readonly CheckResult[];
	isShown: (control: CoveredControl) => boolean;
	organizationId: string;
}) {
	const { mayWrite } = useOrganization();
	const [linking, setLinking] = useState<CoveredControl | null>(null);
	const sections = sectionsOf(controls).filter(({ controls }) =>
		controls.some(isShown),
	);
	const shownCount = controls.filter(isShown).length;
	return (
		<>
			<Accordion
				multiple
				order={3}
				variant="contained"
				keepMounted={false}
				chevronPosition="left"
				defaultValue={shownCount <= FEW ? sections.map(accordionValue) : []}
			>
				{sections.map((section) => (
					<Accordion.Item key={section.title} value={accordionValue(section)}>
						<Accordion.Control>
							<SectionTitle section={section} />
						</Accordion.Control>
						<Accordion.Panel>
							<Box component="ul" p={0} m={0} style={{ listStyle: "none" }}>
								{section.controls.filter(isShown).map((control) => (
									<Control
										key={control.id}
										control={control}
										results={results.filter(({ check_key }) =>
											control.checks.includes(check_key),
										)}
										section={section.title}
										organizationId={organizationId}
										onLink={mayWrite ? setLinking : undefined}
									/>
								))}
							</Box>
						</Accordion.Panel>
					</Accordion.Item>
				))}
			</Accordion>
			<LinkDialog
				opened={linking !== null}
				onClose={() => setLinking(null)}
				title={`Link measures to ${linking?.name ?? "the control"}`}
				organizationId={organizationId}
				id={linking?.id ?? ""}
				linked={[]}
				only="measure"
			/>
		</>
	);
}

/** The value of a section becomes part of an id, which may not have spaces. */
const accordionValue = ({ title }: { title: string }) =>
	title.replaceAll(/\s/g, "-");

function SectionTitle({ section }: { section: Section }) {
	const counts = countStates(section.controls);
	const applying = section.controls.length - counts.excluded;
	return (
		<Group gap="md" pr="sm">
			<Text fw={600} flex="1 1 60px" style={{ overflowWrap: "anywhere" }}>
				{section.title}
			</Text>
			<Text size="sm" c="dimmed">
				{applying === 0
					? "excluded"
					: `${counts.covered} of ${applying} covered`}
			</Text>
			<Box w={120} visibleFrom="xs">
				<CoverageBar counts={counts} height={8} />
			</Box>
		</Group>
	);
}

function Control({
	control,
	results,
	section,
	organizationId,
	onLink,
}: {
	control: CoveredControl;
	/** The results of the device checks that test the control. */
	results: readonly CheckResult[];
	/** The title of the section. A control's own section title is shown only if it differs. */
	section: string;
	organizationId: string;
	onLink: ((control: CoveredControl) => void) | undefined;
}) {
	const state = stateOf(control);
	const { label, tone } = STATES[state];
	const { section_title, name, measure_names } = control;
	const more = control.measures - measure_names.length;
	const measures = measuresInWords(control);
	return (
		<Group
			component="li"
			className={styles.control}
			gap="sm"
			mih={42}
			style={{ rowGap: 2 }}
		>
			{section_title !== section && (
				<Text size="sm" c="dimmed" miw={56}>
					{section_title}
				</Text>
			)}
			<Box flex="1 1 160px" miw={0}>
				<RecordLink
					organizationId={organizationId}
					kind="control"
					id={control.id}
				>
					{name}
				</RecordLink>
				{measure_names.length > 0 && (
					<Text
						size="xs"
						c="dimmed"
						lineClamp={2}
						style={{ overflowWrap: "anywhere" }}
					>
						{measure_names.join(", ")}
						{more > 0 && ` and ${more} more`}
					</Text>
				)}
			</Box>
			<Group gap="xs" justify="flex-end" ml="auto" style={{ rowGap: 2 }}>
				{results.length > 0 && <LowestResult results={results} />}
				{measures && (
					<Text size="sm" c="dimmed">
						{measures}
					</Text>
				)}
				{onLink && state === "open" && (
					<Button
						size="compact-sm"
						variant="subtle"
						aria-label={`Link a measure to ${name}`}
						onClick={() => onLink(control)}
					>
						Link a measure
					</Button>
				)}
				<StatusBadge label={label} tone={tone} />
			</Group>
		</Group>
	);
}

/**
 * Says why a control has its state: how many of its measures are implemented, and which states the
 * others have. Returns nothing without a measure.
 */
function measuresInWords(control: CoveredControl): string | undefined {
	const { measures, implemented_measures: implemented } = control;
	if (measures === 0) return undefined;
	const noun = measures === 1 ? "1 measure" : `${measures} measures`;
	if (["covered", "excluded"].includes(stateOf(control))) return noun;
	const {
		contradicted_measures: contradicted,
		started_measures: started,
		planned_measures: planned,
	} = control;
	const parts = [
		[implemented, "implemented"],
		[
			contradicted,
			contradicted === 1
				? "contradicted by its check"
				: "contradicted by their checks",
		],
		[started, "in progress"],
		[planned, "not started"],
		[
			measures - implemented - contradicted - started - planned,
			"not applicable",
		],
	] as const;
	const states = parts
		.filter(([count]) => count > 0)
		.map(([count, state]) => (measures === 1 ? state : `${count} ${state}`));
	return `${noun}: ${states.join(", ")}`;
}

/** Says how many devices pass the checks of a control: the fewest, if the checks differ. */
function LowestResult({ results }: { results: readonly CheckResult[] }) {
	const percents = results.map(({ pass_percent }) => pass_percent);
	const known = percents.filter((percent) => percent !== null);
	const least =
		known.length < percents.length
			? "no data"
			: `${percentInWords(Math.min(...known))} pass`;
	const isOfAll = new Set(percents).size === 1;
	return (
		<Text
			size="sm"
			c="dimmed"
			title={results
				.map(
					({ check_name, check_key, pass_percent }) =>
						`${check_name ?? check_key}: ${pass_percent === null ? "no data" : percentInWords(pass_percent)}`,
				)
				.join("\n")}
		>
			{results.length > 1 &&
				`${isOfAll ? "each" : "worst"} of ${results.length} checks: `}
			{least}
		</Text>
	);
}
