/**
 * Keeps background work for many organizations within a share of the time. After a step for an
 * organization, the next one waits `factor` times as long as the step took, for each organization
 * that has work. So all of them together take at most one part in `factor`, however many they are.
 */
export class Pauses {
	readonly #untilMs = new Map<string, number>();

	isPaused(organizationId: string): boolean {
		return this.remainingMs(organizationId) > 0;
	}

	remainingMs(organizationId: string): number {
		const untilMs = this.#untilMs.get(organizationId) ?? 0;
		return Math.max(0, untilMs - performance.now());
	}

	/**
	 * Begins the pause after a step that took `tookMs`. `busy` is the number of organizations that
	 * had work when the step began.
	 */
	begin(
		organizationId: string,
		tookMs: number,
		factor: number,
		busy: number,
	): void {
		this.#untilMs.set(
			organizationId,
			performance.now() + tookMs * factor * Math.max(1, busy),
		);
	}
}
