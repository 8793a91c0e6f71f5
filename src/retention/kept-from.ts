/**
 * Returns SQL for the beginning of the oldest month that is kept, in UTC. `months` is the parameter
 * with the number of months that retention keeps, such as `$1`.
 */
export function keptFrom(months: `$${number}`): string {
	return `date_trunc('month', now() - ${months} * interval '1 month', 'UTC')`;
}
