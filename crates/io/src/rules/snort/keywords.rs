//! The option keywords of Snort 2, Snort 3 and Suricata, to notice misspelled ones.

/// What a keyword means for the contents after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// The contents after it are looked for in what it decodes.
    Decodes(&'static str),
    /// The contents after it are looked for in a buffer that is a part of the packet or stream.
    Selects,
    /// Nothing.
    Other,
    /// Not known, but similar to this one.
    Resembles(&'static str),
    /// Not known.
    Unknown,
}

/// Looks a keyword up.
pub(super) fn look_up(keyword: &str) -> Keyword {
    if let Some(known) = DECODERS.iter().find(|known| **known == keyword) {
        return Keyword::Decodes(known);
    }
    if SELECTORS.contains(&keyword) {
        return Keyword::Selects;
    }
    if OTHERS.contains(&keyword) {
        return Keyword::Other;
    }
    similar(keyword).map_or(Keyword::Unknown, Keyword::Resembles)
}

/// The most similar keyword. A short one may differ by one edit, a longer one by two.
fn similar(keyword: &str) -> Option<&'static str> {
    let most = match keyword.len() {
        ..3 => return None,
        3..=5 => 1,
        _ => 2,
    };
    let all = OTHERS.iter().chain(SELECTORS).chain(DECODERS);
    let near = all.map(|known| (strsim::osa_distance(keyword, known), *known));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, known)| known)
}

/// Buffers and transformations whose bytes differ from those in the packet or file.
#[rustfmt::skip]
const DECODERS: &[&str] = &[
    "base64_data", "casechange", "compress_whitespace", "dns.answer.name", "dns.answers.rrname",
    "dns.queries.rrname", "dns.query", "dns.query.name", "dns.response.rrname", "dns_query",
    "domain", "dotprefix", "from_base64", "gunzip", "header_lowercase", "ja3.hash", "ja3_hash",
    "ja3s.hash", "ja4.hash", "js_data", "luaxform", "md5", "pcrexform", "protected_content",
    "quic.cyu.hash", "sha256", "sha512", "ssh.hassh", "ssh.hassh.server", "strip_pseudo_headers",
    "strip_whitespace", "subslice", "tld", "tls.cert_fingerprint", "tls.cert_serial",
    "tls_cert_fingerprint", "tls_cert_serial", "to_lowercase", "to_md5", "to_sha1", "to_sha256",
    "to_uppercase", "url_decode", "vba_data", "xor", "zlib_deflate",
];

/// Buffers that are a part of the packet or stream. A content after one of them is no longer
/// looked for in what was decoded.
#[rustfmt::skip]
const SELECTORS: &[&str] = &[
    "arp.hw.dst", "arp.hw.src", "ber_data", "cip_attribute", "cip_class", "cip_conn_path_class",
    "cip_instance", "cip_req", "cip_rsp", "cip_service", "cip_status", "dce_stub_data",
    "dcerpc.stub_data", "dhcp.hostname", "dnp3.data", "dnp3_data", "email.body_md5", "email.cc",
    "email.command", "email.date", "email.from", "email.message_id", "email.received",
    "email.subject", "email.to", "email.url", "email.x_mailer", "enip.capabilities",
    "enip.cip_attribute", "enip.cip_class", "enip.cip_extendedstatus", "enip.cip_instance",
    "enip.cip_status", "enip.device_type", "enip.identity_status", "enip.product_code",
    "enip.product_name", "enip.protocol_version", "enip.revision", "enip.serial",
    "enip.service_name", "enip.state", "enip.status", "enip.vendor_id", "enip_command",
    "enip_req", "enip_rsp", "file.data", "file.magic", "file.name", "file_data", "ftp.command",
    "ftp.command_data", "ftp.completion_code", "ftp.dynamic_port", "ftp.mode", "ftp.received",
    "ftp.reply", "ftp.reply_received", "ftpdata_command", "http.accept", "http.accept_enc",
    "http.accept_lang", "http.connection", "http.content_len", "http.content_type", "http.cookie",
    "http.header", "http.header.raw", "http.header_names", "http.host", "http.host.raw",
    "http.location", "http.method", "http.protocol", "http.referer", "http.request_body",
    "http.request_header", "http.request_line", "http.response_body", "http.response_header",
    "http.response_line", "http.server", "http.start", "http.stat_code", "http.stat_msg",
    "http.uri", "http.uri.raw", "http.user_agent", "http2.frametype", "http2.header_name",
    "http_accept", "http_accept_enc", "http_accept_lang", "http_client_body", "http_connection",
    "http_content_len", "http_content_type", "http_cookie", "http_encode", "http_header",
    "http_header_names", "http_header_test", "http_host", "http_max_header_line",
    "http_max_trailer_line", "http_method", "http_num_cookies", "http_num_headers",
    "http_num_trailers", "http_param", "http_protocol", "http_raw_body", "http_raw_cookie",
    "http_raw_header", "http_raw_header_complete", "http_raw_host", "http_raw_request",
    "http_raw_status", "http_raw_trailer", "http_raw_uri", "http_referer", "http_request_line",
    "http_response_line", "http_server_body", "http_start", "http_stat_code", "http_stat_msg",
    "http_trailer", "http_trailer_test", "http_true_ip", "http_uri", "http_user_agent",
    "http_version", "http_version_match", "icmpv4.hdr", "icmpv6.hdr", "igmp.hdr", "ike.init_spi",
    "ike.key_exchange_payload", "ike.nonce_payload", "ike.resp_spi", "ike.vendor", "ipv4.hdr",
    "ipv6.hdr", "ja3.string", "ja3_string", "ja3s.string", "krb5.cname", "krb5.sname",
    "krb5_cname", "krb5_sname", "ldap.attribute_type", "ldap.request.dn",
    "ldap.responses.attribute_type", "ldap.responses.dn", "ldap.responses.message",
    "mdns.answers.rrname", "mdns.queries.rrname", "mime_data", "mms_data", "modbus_data",
    "mqtt.connect.clientid", "mqtt.connect.password", "mqtt.connect.username",
    "mqtt.connect.willmessage", "mqtt.connect.willtopic", "mqtt.publish.message",
    "mqtt.publish.topic", "mqtt.subscribe.topic", "mqtt.unsubscribe.topic", "mysql.command",
    "mysql.rows", "nfs.version", "nfs_procedure", "nfs_version", "pgsql.query", "pkt_data",
    "pop3.body", "pop3_body", "quic.sni", "quic.ua", "quic.version", "raw_data", "rfb.name",
    "rfb.secresult", "rfb.sectype", "rpc.call", "s7commplus_content", "sdp.attribute",
    "sdp.bandwidth", "sdp.connection_data", "sdp.email", "sdp.encryption_key", "sdp.info",
    "sdp.media.connection_data", "sdp.media.media", "sdp.media.media_info", "sdp.origin",
    "sdp.phone_number", "sdp.repeat_time", "sdp.session_name", "sdp.time", "sdp.timezone",
    "sdp.uri", "sip.content_length", "sip.content_type", "sip.from", "sip.method", "sip.protocol",
    "sip.request_line", "sip.response_line", "sip.stat_code", "sip.stat_msg", "sip.to", "sip.ua",
    "sip.uri", "sip.user_agent", "sip.via", "sip_body", "sip_header", "sip_method",
    "sip_stat_code", "smb.named_pipe", "smb.ntlmssp_domain", "smb.ntlmssp_user", "smb.share",
    "smb.version", "smb_named_pipe", "smb_share", "smtp.helo", "smtp.mail_from", "smtp.rcpt_to",
    "snmp.community", "snmp.pdu_type", "snmp.usm", "snmp.version", "ssh.proto", "ssh.software",
    "ssh_proto", "ssh_software", "stream_data", "tcp.hdr", "tls.alpn", "tls.cert_issuer",
    "tls.cert_subject", "tls.certs", "tls.random", "tls.random_bytes", "tls.random_time",
    "tls.sni", "tls.subjectaltname", "tls_cert_issuer", "tls_cert_notafter", "tls_cert_notbefore",
    "tls_cert_subject", "tls_sni", "udp.hdr", "websocket.payload",
];

/// All other options: modifiers of a content, tests, and what describes a rule.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "absent", "ack", "activated_by", "activates", "alert", "app-layer-event",
    "app-layer-protocol", "appids", "asn1", "base64_decode", "ber_skip", "bidirectional", "bsize",
    "bufferlen", "byte_extract", "byte_jump", "byte_math", "byte_test", "classtype", "content",
    "dataset", "datasets", "dce_iface", "dce_opnum", "dcerpc.iface", "dcerpc.opnum",
    "decode-event", "depth", "detection_filter", "dhcp.leasetime", "dhcp.rebinding_time",
    "dhcp.renewal_time", "distance", "dnp3_func", "dnp3_ind", "dnp3_obj", "dns.opcode",
    "dns.rcode", "dns.rrtype", "dsize", "enable", "endswith", "engine-event", "engine_event",
    "enip.cip_command", "enip.command", "entropy", "fast_pattern", "file_meta", "file_type",
    "fileext", "filemagic", "filemd5", "filename", "filesha1", "filesha256", "filesize",
    "filestore", "flags", "flow", "flow.age", "flow.bytes", "flow.bytes_toclient",
    "flow.bytes_toserver", "flow.elephant", "flow.pkts", "flow.pkts_toclient",
    "flow.pkts_toserver", "flowbits", "flowint", "fragbits", "fragoffset", "frame", "geoip",
    "gid", "gtp_info", "gtp_type", "gtp_version", "hostbits", "http2.errorcode", "http2.priority",
    "http2.settings", "http2.size_update", "http2.window", "http_header_order", "icmp_id",
    "icmp_seq", "icmpv4-csum", "icmpv6-csum", "icmpv6.mtu", "icode", "id", "iec104_apci_type",
    "iec104_asdu_func", "igmp.type", "ike.chosen_sa_attribute", "ike.exchtype",
    "ike.key_exchange_payload_length", "ike.nonce_payload_length", "ip-csum", "ip_proto",
    "ip_rep", "ipopts", "iprep", "ipv4-csum", "ipv6-csum", "isdataat", "itype",
    "krb5.ticket_encryption", "krb5.weak_encryption", "krb5_err_code", "krb5_msg_type",
    "ldap.request.operation", "ldap.responses.count", "ldap.responses.operation",
    "ldap.responses.result_code", "logto", "lua", "luajit", "metadata", "mms_func", "modbus",
    "modbus_func", "modbus_unit", "mqtt.connack.return_code", "mqtt.connack.session_present",
    "mqtt.connect.flags", "mqtt.connect.protocol_string", "mqtt.flags", "mqtt.protocol_version",
    "mqtt.qos", "mqtt.reason_code", "mqtt.type", "msg", "ndpi-protocol", "ndpi-risk",
    "nfq_set_mark", "noalert", "nocase", "offset", "pcre", "pkt_num", "pktvar", "prefilter",
    "priority", "quic.cyu.string", "rate_filter", "rawbytes", "react", "reference", "regex",
    "rem", "replace", "requires", "resp", "respond", "rev", "rpc", "s7commplus_func",
    "s7commplus_opcode", "sameip", "sd_pattern", "seq", "service", "session", "sid", "sig_id",
    "soid", "ssh.protoversion", "ssh.softwareversion", "ssl_state", "ssl_version", "startswith",
    "stream-event", "stream_reassemble", "stream_size", "tag", "target", "tcp.flags", "tcp.mss",
    "tcp.wscale", "tcpv4-csum", "tcpv6-csum", "threshold", "tls.cert_chain_len",
    "tls.fingerprint", "tls.issuerdn", "tls.store", "tls.subject", "tls.version",
    "tls_cert_expired", "tls_cert_valid", "to_client", "to_server", "tos", "ttl", "udp.len",
    "udpv4-csum", "udpv6-csum", "uricontent", "urilen", "vlan.id", "vlan.layers", "websocket.fin",
    "websocket.flags", "websocket.mask", "websocket.opcode", "wide", "window", "within", "xbits",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_keywords_have_a_suggestion() {
        for (wrong, right) in [
            ("contnet", "content"),
            ("conten", "content"),
            ("uricontnt", "uricontent"),
            ("nocas", "nocase"),
            ("sdi", "sid"),
            ("refrence", "reference"),
            ("http_urii", "http_uri"),
        ] {
            assert_eq!(look_up(wrong), Keyword::Resembles(right), "{wrong}");
        }
        for unknown in ["q188806", "zz", "an_option_of_the_future"] {
            assert_eq!(look_up(unknown), Keyword::Unknown, "{unknown}");
        }
    }

    #[test]
    fn every_keyword_is_listed_once_and_known() {
        let all: Vec<_> = DECODERS.iter().chain(SELECTORS).chain(OTHERS).collect();
        for keyword in &all {
            assert!(!matches!(look_up(keyword), Keyword::Resembles(_) | Keyword::Unknown));
        }
        assert_eq!(look_up("dotprefix"), Keyword::Decodes("dotprefix"));
        assert_eq!(look_up("pkt_data"), Keyword::Selects);
    }
}
