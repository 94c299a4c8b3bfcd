#!/usr/bin/env python3
"""Writes the Grafana dashboards beside it: python3 tools/grafana/dashboards.py

The JSON that Grafana imports is long and all alike; what differs is here."""

import json
import pathlib
import re

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


# Of the fabrics that one Prometheus has (metrics.fabric); all of them, and those without that label, match ".*".
FABRIC = 'fabric=~"$fabric"'


def of_fabric(expr):
    """`expr` with this label on each metric in it."""
    return re.sub(r"\b((?:heddle|infiniband)[_:][a-z0-9_:]+)(\{(?=[^}])|\{\})?",
                  lambda match: f"{match[1]}{{{FABRIC}" + ("," if match[2] == "{" else "}"), expr)


def panel(title, unit, *queries, kind="timeseries", width=12, height=8, description=""):
    targets = [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": of_fabric(expr), "legendFormat": legend,
                "instant": kind in ("stat", "table"), "format": "table" if kind == "table" else "time_series"}
               for i, (expr, legend) in enumerate(queries)]
    made = {"title": title, "type": kind, "description": description, "datasource": SOURCE, "targets": targets,
            "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
            "gridPos": {"w": width, "h": height}, "options": {}}
    if kind == "timeseries":
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom"},
                           "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "table":
        made["transformations"] = [{"id": "organize", "options": {
            "excludeByName": {"Time": True, "__name__": True, "instance": True, "job": True}}}]
    return made


def variable(name, query, label):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE, "query": {"query": query, "refId": name},
            "refresh": 2, "sort": 1, "includeAll": False, "multi": False}


def every_fabric():
    return {**variable("fabric", "label_values(heddle_fabric_links, fabric)", "Fabric"), "includeAll": True, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"}}


def dashboard(name, title, panels, variables=()):
    x = y = row = 0
    for number, one in enumerate(panels, 1):
        place = one["gridPos"]
        if x + place["w"] > 24:
            x, y, row = 0, y + row, 0
        one["id"] = number
        place["x"], place["y"] = x, y
        x += place["w"]
        row = max(row, place["h"])
    source = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    board = {"uid": f"heddle-{name}", "title": title, "tags": ["heddle", "infiniband"], "schemaVersion": 38,
             "editable": True, "graphTooltip": 1, "refresh": "10s", "time": {"from": "now-1h", "to": "now"},
             "templating": {"list": [source, every_fabric(), *variables]},
             "links": [{"title": "Heddle", "type": "dashboards", "tags": ["heddle"], "asDropdown": True,
                        "includeVars": False, "keepTime": True}],
             "panels": panels}
    path = pathlib.Path(__file__).with_name(f"heddle-{name}.json")
    path.write_text(json.dumps(board, indent=1) + "\n")


def stat(title, unit, query):
    return panel(title, unit, (query, ""), kind="stat", width=4, height=4)


PORT = "{{node}} {{port}}"
SWITCH = 'switch="$switch"'
LINK = 'node="$node",port="$port"'

dashboard("fabric", "Heddle: fabric", [
    stat("Switches", "none", 'heddle_fabric_nodes{type="switch"}'),
    stat("Hosts", "none", 'heddle_fabric_nodes{type="channel_adapter"}'),
    stat("Links active", "none", "heddle_fabric_active_links"),
    stat("Links off or down", "none", "heddle_fabric_links - heddle_fabric_active_links"),
    stat("Injected", "Bps", "heddle_fabric_injected_bytes_per_second"),
    stat("Ports missing", "none", "heddle_sweep_missing_ports"),
    panel("Traffic of all hosts", "Bps", ("heddle_fabric_injected_bytes_per_second", "injected"),
          ("heddle_fabric_delivered_bytes_per_second", "delivered")),
    panel("Utilization of links", "percentunit", ("heddle_fabric_utilization_ratio", "{{stat}}")),
    panel("Busiest links", "percentunit", ("topk(10, heddle_link_utilization_ratio)", PORT)),
    panel("Most congested links", "percentunit", ("topk(10, heddle_link_congestion_ratio)", PORT),
          description="Share of the time in which the port had data and could not send"),
    panel("Busiest switches", "percentunit", ('topk(10, heddle_switch_utilization_ratio{stat="mean"})', "{{switch}}")),
    panel("Locality", "percentunit", ('bottomk(15, heddle_locality_ratio{kind="total"})', "{{set}}"),
          description="Share of a set's traffic that stays within it"),
    panel("Most errors", "ops", ("topk(10, heddle:switch_errors:rate5m > 0)", "{{switch}}"),
          description="Symbol errors, damaged packets, discards, recoveries; needs heddle.recording.yml"),
    panel("Ports that are down and were not", "none",
          ("infiniband_switch_port_state == 0 and max_over_time(infiniband_switch_port_state[1d]) == 1", ""), kind="table"),
])

dashboard("switch", "Heddle: switch", [
    panel("Sent by port", "Bps", (f"rate(infiniband_switch_port_transmit_data_bytes_total{{{SWITCH}}}[1m])", "{{port}}")),
    panel("Received by port", "Bps", (f"rate(infiniband_switch_port_receive_data_bytes_total{{{SWITCH}}}[1m])", "{{port}}")),
    panel("Utilization by port", "percentunit", ('heddle_link_utilization_ratio{node="$switch"}', "{{port}}")),
    panel("Congestion by port", "percentunit", ('heddle_link_congestion_ratio{node="$switch"}', "{{port}}")),
    panel("Over all ports", "percentunit", (f"heddle_switch_utilization_ratio{{{SWITCH}}}", "utilization, {{stat}}"),
          (f"heddle_switch_congestion_ratio{{{SWITCH}}}", "congestion, {{stat}}")),
    panel("Packets", "pps", (f"sum(rate(infiniband_switch_port_transmit_packets_total{{{SWITCH}}}[1m]))", "sent"),
          (f"sum(rate(infiniband_switch_port_receive_packets_total{{{SWITCH}}}[1m]))", "received")),
    panel("Errors", "ops", (f"rate(infiniband_switch_port_symbol_error_total{{{SWITCH}}}[5m]) > 0", "symbol, {{port}}"),
          (f"rate(infiniband_switch_port_receive_errors_total{{{SWITCH}}}[5m]) > 0", "receive, {{port}}"),
          (f"rate(infiniband_switch_port_transmit_discards_total{{{SWITCH}}}[5m]) > 0", "discards, {{port}}")),
    panel("Cabled to", "none", (f"infiniband_switch_uplink_info{{{SWITCH}}}", ""), kind="table"),
], [variable("switch", f"label_values(infiniband_switch_info{{{FABRIC}}}, switch)", "Switch")])

dashboard("link", "Heddle: link", [
    panel("Utilization of the direction that leaves the port", "percentunit",
          (f"heddle_link_utilization_ratio{{{LINK}}}", "now"), (f"heddle:link_utilization:avg5m{{{LINK}}}", "5 minutes")),
    panel("Congestion", "percentunit", (f"heddle_link_congestion_ratio{{{LINK}}}", "now"),
          (f"heddle:link_congestion:avg5m{{{LINK}}}", "5 minutes")),
    panel("Bytes", "Bps",
          ('rate(infiniband_switch_port_transmit_data_bytes_total{switch="$node",port="$port"}[1m])', "sent"),
          ('rate(infiniband_switch_port_receive_data_bytes_total{switch="$node",port="$port"}[1m])', "received"),
          ('rate(infiniband_hca_port_transmit_data_bytes_total{hca="$node",port="$port"}[1m])', "sent"),
          ('rate(infiniband_hca_port_receive_data_bytes_total{hca="$node",port="$port"}[1m])', "received")),
    panel("State", "none", ('infiniband_switch_port_state{switch="$node",port="$port"}', "active"),
          ('infiniband_hca_port_state{hca="$node",port="$port"}', "active")),
    panel("What could not be seen", "none", (f"increase(heddle_port_saturated_total{{{LINK}}}[5m])", "counter full"),
          (f"increase(heddle_port_gaps_total{{{LINK}}}[5m])", "gaps")),
    panel("Cabled to", "none", ('infiniband_switch_uplink_info{switch="$node",port="$port"}', ""),
          ('infiniband_hca_uplink_info{hca="$node",port="$port"}', ""), kind="table"),
], [variable("node", f"label_values(heddle_link_utilization_ratio{{{FABRIC}}}, node)", "Node"),
    variable("port", of_fabric('label_values(heddle_link_utilization_ratio{node="$node"}, port)'), "Port")])

dashboard("daemon", "Heddle: the daemon", [
    stat("Sweep", "s", "heddle_sweep_duration_seconds"),
    stat("Since the last sweep", "s", "time() - heddle_last_sweep_timestamp_seconds"),
    stat("Ports missing", "none", "heddle_sweep_missing_ports"),
    stat("Memory", "bytes", 'process_resident_memory_bytes and on (instance, job) heddle_sweeps_total'),
    stat("CPU", "percentunit", "rate(process_cpu_seconds_total[1m]) and on (instance, job) heddle_sweeps_total"),
    stat("Window", "none", "heddle_transaction_window"),
    panel("Sweep duration", "s", ("heddle_sweep_duration_seconds", "")),
    panel("Sweeps", "ops", ("rate(heddle_sweeps_total[1m])", "all"), ("rate(heddle_late_sweeps_total[1m])", "late")),
    panel("MADs", "ops", ("rate(heddle_mads_sent_total[1m])", "sent"), ("rate(heddle_mads_received_total[1m])", "received"),
          ("rate(heddle_transaction_retries_total[1m])", "sent again"),
          ("rate(heddle_transaction_timeouts_total[1m])", "timed out")),
    panel("From request to answer", "s",
          ("histogram_quantile(0.5, rate(heddle_transaction_duration_seconds_bucket[1m]))", "median"),
          ("histogram_quantile(0.99, rate(heddle_transaction_duration_seconds_bucket[1m]))", "99 %")),
    panel("Transactions", "ops", ("rate(heddle_transactions_total[1m])", "{{outcome}}"),
          ("rate(heddle_odd_mads_total[1m])", "odd: {{kind}}")),
    panel("Subnet manager", "none", ("heddle_sm_master_answers", "the master answers"),
          ("increase(heddle_sm_master_changes_total[5m])", "mastership moved"),
          ("heddle_sm_master_priority * on (instance) group_left (node) heddle_sm_master_info", "priority of {{node}}")),
    panel("Readings", "ops", ("rate(heddle_readings_total[1m])", "all"), ("rate(heddle_failed_readings_total[1m])", "failed"),
          ("rate(heddle_saturated_readings_total[1m])", "saturated"), ("rate(heddle_gap_readings_total[1m])", "gaps")),
])

dashboard("qos", "Heddle: QoS", [
    stat("Ports with a plan", "none", "heddle_qos_ports"),
    stat("Other tables than pushed", "none", "heddle_qos_drift_ports"),
    stat("No answer", "none", "heddle_qos_silent_ports"),
    stat("Less room than the plan", "none", "heddle_qos_reduced_ports"),
    stat("Written again on return", "none", "heddle_qos_reapplied_ports_total"),
    panel("Ports that are not as pushed", "none", ("heddle_qos_drift_ports", "other tables"),
          ("heddle_qos_silent_ports", "no answer"),
          description="Compared every qos.verify_interval, and by heddle qos verify, which names them."),
    panel("Ports written again when they came back", "none", ("increase(heddle_qos_reapplied_ports_total[5m])", "in 5 minutes")),
])

KWH = "/ 3.6e6"
IN_STATE = "count(heddle_link_power_state == {}) or vector(0)"

dashboard("energy", "Heddle: energy and regulation", [
    stat("Power", "watt", "heddle_power_watts"),
    stat("Saved at this moment", "watt", "heddle_power_saving_watts"),
    stat("Share of what all links would draw", "percentunit", "heddle_power_watts / (heddle_power_watts + heddle_power_saving_watts)"),
    stat("Saved so far", "kwatth", f"heddle_energy_saved_joules_total {KWH}"),
    stat("Links off", "none", IN_STATE.format(0)),
    stat("Links reduced", "none", IN_STATE.format(1)),
    panel("Power of all switches, by the power model", "watt", ("heddle_power_watts", "drawn"),
          ("heddle_power_watts + heddle_power_saving_watts", "with all links on in full")),
    panel("Energy", "kwatth", (f"increase(heddle_energy_joules_total[1h]) {KWH}", "spent in an hour"),
          (f"increase(heddle_energy_saved_joules_total[1h]) {KWH}", "saved in an hour")),
    panel("Links between switches", "none", (IN_STATE.format(2), "on"), (IN_STATE.format(1), "reduced"), (IN_STATE.format(0), "off")),
    panel("Links turned", "none", ("increase(heddle_link_transitions_total[5m])", "{{to}}, in 5 minutes"),
          description="failed: a switch did not do as it was told"),
    panel("Mode", "none", ("heddle_regulation_mode == 1", "{{mode}}"), kind="table"),
    panel("Links that are off", "none", ("heddle_link_power_state == 0", ""), kind="table",
          description="heddle links --power says why"),
    panel("What regulation costs", "percentunit", ('heddle_fabric_utilization_ratio{stat="max"}', "busiest link"),
          ('heddle_fabric_congestion_ratio{stat="max"}', "longest wait for credits")),
])
