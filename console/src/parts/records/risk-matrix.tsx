import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import { IMPACTS, LIKELIHOODS } from "../../../../src/records/scales.ts";
import type { OutputOf } from "../../api.ts";
import styles from "./risk-matrix.module.css";
import { type Band, bandOf } from "./risk-scores.ts";

const HIDDEN = VisuallyHidden.classes.root;

/**
 * The number of risks for each likelihood and impact, as getRiskMatrix returns them. Cells without
 * risks are left out.
 */
export type RiskCells = OutputOf<"getRiskMatrix">["inherent"];
/** Selects the scores before treatment (inherent) or after it (residual). */
export type RiskView = "inherent" | "residual";

export const VIEWS = {
	inherent: { label: "Inherent risk", means: "before treatment" },
	residual: { label: "Residual risk", means: "after treatment" },
} as const satisfies Record<RiskView, { label: string; means: string }>;

interface MatrixProps {
	organizationId: string;
	of: RiskView;
	cells: RiskCells;
}

/** Shows the risks by likelihood and impact. Each number links to the risks that it counts. */
export function RiskMatrix(props: MatrixProps) {
	return <Matrix {...props} isSmall={false} />;
}

/** Shows a small matrix as part of another page, with numbers but without words. */
export function RiskMatrixSmall(props: MatrixProps) {
	return <Matrix {...props} isSmall />;
}

const STEPS = [1, 2, 3, 4, 5];

function Matrix({
	organizationId,
	of,
	cells,
	isSmall,
}: MatrixProps & { isSmall: boolean }) {
	const countOf = (likelihood: number, impact: number) =>
		cells.find(
			(cell) => cell.likelihood === likelihood && cell.impact === impact,
		)?.risks ?? 0;
	return (
		<table className={`${styles.matrix} ${isSmall ? styles.small : ""}`}>
			<VisuallyHidden component="caption">
				{VIEWS[of].label}, {VIEWS[of].means}: number of risks by likelihood and
				impact
			</VisuallyHidden>
			<colgroup>
				<col className={styles.axes} />
				<col className={styles.rows} />
				<col span={5} />
			</colgroup>
			<thead>
				<tr>
					<td colSpan={2} />
					<th scope="colgroup" colSpan={5} className={styles.axis}>
						Impact
					</th>
				</tr>
				<tr>
					<td colSpan={2} />
					{STEPS.map((impact) => (
						<th key={impact} scope="col">
							<Step step={impact} meanings={IMPACTS} />
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{STEPS.toReversed().map((likelihood, row) => (
					<tr key={likelihood}>
						{row === 0 && (
							<th scope="rowgroup" rowSpan={5} className={styles.axis}>
								<span className={styles.vertical}>Likelihood</span>
							</th>
						)}
						<th scope="row">
							<Step step={likelihood} meanings={LIKELIHOODS} />
						</th>
						{STEPS.map((impact) => (
							<Cell
								key={impact}
								organizationId={organizationId}
								of={of}
								likelihood={likelihood}
								impact={impact}
								count={countOf(likelihood, impact)}
								isSmall={isSmall}
							/>
						))}
					</tr>
				))}
			</tbody>
		</table>
	);
}

function Step({
	step,
	meanings,
}: {
	step: number;
	meanings: readonly string[];
}) {
	return (
		<>
			<span className={styles.step}>{step}</span>
			<span className={styles.word}>{meanings[step - 1]}</span>
		</>
	);
}

function Cell({
	organizationId,
	of,
	likelihood,
	impact,
	count,
	isSmall,
}: {
	organizationId: string;
	of: RiskView;
	likelihood: number;
	impact: number;
	count: number;
	isSmall: boolean;
}) {
	const score = likelihood * impact;
	const band = bandOf(score);
	const className = isSmall ? styles.word : styles.score;
	// The cells and the headings are in the order in which they are seen.
	const inside = (
		<>
			{count > 0 && (
				<span className={styles.count}>{count.toLocaleString()}</span>
			)}
			<span className={HIDDEN}>
				{count === 0 ? "No risks" : count === 1 ? " risk" : " risks"}, score{" "}
			</span>
			<span className={className}>
				{score} <span className={styles.word}>{band?.label}</span>
			</span>
		</>
	);
	return (
		<td
			className={`${styles.cell} ${count > 0 ? styles.filled : ""}`}
			style={band && colorsOf(band)}
		>
			{count > 0 ? (
				<Link
					className={styles.inside}
					to="/o/$org/r/$kind"
					params={{ org: organizationId, kind: "risk" }}
					search={{
						[`${of}_likelihood`]: likelihood,
						[`${of}_impact`]: impact,
					}}
				>
					{inside}
					<span className={HIDDEN}>
						, likelihood {likelihood} {LIKELIHOODS[likelihood - 1]}, impact{" "}
						{impact} {IMPACTS[impact - 1]}
					</span>
				</Link>
			) : (
				<span className={styles.inside}>{inside}</span>
			)}
		</td>
	);
}

/** Returns the colors of a band as the CSS variables that the style sheet mixes. */
export function colorsOf({ background, color }: Band): CSSProperties {
	return { "--band": background, "--on-band": color } as CSSProperties;
}
